/**
 * The search limit that several instances share through one store, a Redis or Valkey server. While
 * the store is down, memory decides without waiting. Callbacks get no part of the store's URL.
 */
import { RedisClient } from "bun";
import { codeOf } from "../files/errors.ts";
import {
  createLimiter,
  type Decision,
  type Limiter,
  type LimiterOptions,
  type MemoryLimiter,
} from "./limiter.ts";

export interface SharedLimiterOptions extends LimiterOptions {
  url: string;
  onDown: (reason: string) => void;
  /** Called when the store becomes available, for the first time or again. */
  onUp: () => void;
  /** If the store takes longer than this to decide, memory decides. Default 50. */
  deadlineMs?: number;
  /** How long the store may take for its first decision after a connection. Default 1000. */
  connectMs?: number;
  retryMs?: number;
}

/**
 * The same sliding window as in `limiter.ts`, but run atomically on the store and by its clock.
 * Each client has a list of timestamps, oldest first. While the clock is behind the newest one,
 * that timestamp counts as the current time, and the lag is added to the reported wait.
 */
const SCRIPT = `
local key, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local is_counted = ARGV[3] == '1'
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local function at(index) return tonumber(redis.call('LINDEX', key, index) or nil) end

local now = math.max(clock, at(-1) or clock)
local used = redis.call('LLEN', key)
-- A binary search, because there may be as many timestamps as the limit allows.
local expired, high = 0, used
while expired < high do
  local middle = math.floor((expired + high) / 2)
  if now - at(middle) >= window then expired = middle + 1 else high = middle end
end
if expired > 0 then redis.call('LTRIM', key, expired, -1) end
used = used - expired
-- After the limit was lowered, several requests must leave before one more is allowed.
local last_to_leave = at(math.max(used - limit, 0)) or now

local allowed = used < limit
if allowed and is_counted then
  redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIREAT', key, string.format('%.0f', now + window))
  used = used + 1
end
return { allowed and 1 or 0, math.max(limit - used, 0), last_to_leave + window - clock }
`;
const UNEXPECTED = "unexpected reply from the store";

/** A wait may exceed the window by as much as the store's clock was set back. */
const MAX_LAG_MS = 86_400_000;

/** Opens a limiter. If the store does not decide within a second, it starts in memory. */
export async function openSharedLimiter({
  url,
  onDown,
  onUp,
  deadlineMs = 50,
  connectMs = 1000,
  retryMs = 1000,
  ...options
}: SharedLimiterOptions): Promise<Limiter> {
  const { limit, windowMs } = options;
  const memory = createLimiter(options);
  /** Undefined while the store is down. */
  let store: RedisClient | undefined;
  let retryTimer: Timer | undefined;
  let isDownReported = false;
  let isClosed = false;

  /** Opens a new connection, because one that hangs may never report an error. */
  async function connect(): Promise<void> {
    const candidate = new RedisClient(url, { autoReconnect: false });
    candidate.onclose = () => drop(candidate, "the connection was closed");
    // The probe never reaches its limit, so it is always counted, which proves write access. With a
    // wrong password, a command fails only if it is sent before the connection is open.
    const probe = { limit: 1_000_000, windowMs: 1, isCounted: true };
    try {
      await within(connectMs, decide(candidate, "probe", probe));
      await within(deadlineMs, decide(candidate, "probe", probe));
    } catch (error) {
      candidate.close();
      return goDown(reasonOf(error));
    }
    if (isClosed) return candidate.close();
    store = candidate;
    isDownReported = false;
    onUp();
  }

  /** Has an effect only once per connection, even if many decisions fail at the same time. */
  function drop(failed: RedisClient, reason: string): void {
    if (failed !== store) return;
    store = undefined;
    // Closing rejects all pending decisions, so that none of them waits for its own deadline.
    failed.close();
    goDown(reason);
  }

  function goDown(reason: string): void {
    if (isClosed) return;
    if (!isDownReported) onDown(reason);
    isDownReported = true;
    retryTimer = setTimeout(connect, retryMs).unref();
  }

  await connect();
  return {
    consume(client) {
      const asked = store;
      if (asked === undefined) return memory.consume(client);
      return consumeBoth(memory, client, (isCounted) =>
        within(deadlineMs, decide(asked, client, { limit, windowMs, isCounted })).catch((error) => {
          drop(asked, reasonOf(error));
          return undefined;
        }),
      );
    },
    status: () => ({ ...memory.status(), store: "redis", up: store !== undefined }),
    close() {
      isClosed = true;
      clearTimeout(retryTimer);
      if (store) drop(store, "closed");
    },
  };
}

/**
 * Allows a request if both this process's memory and the store allow it. Memory decides first, so
 * no client gets more than the limit here even if the store is late or has lost its counts. The
 * store is asked even if memory refuses, because the store's wait may be longer. `ask` resolves to
 * undefined if the store is down, and never rejects.
 */
export async function consumeBoth(
  memory: MemoryLimiter,
  client: string,
  ask: (isCounted: boolean) => Promise<Decision | undefined>,
): Promise<Decision> {
  const before = memory.peek(client);
  const shared = await ask(before.allowed);
  const isAllowed = before.allowed && shared?.allowed !== false;
  // Memory may refuse by now, because other requests from this client may have been counted while
  // this one waited for the store.
  const own = isAllowed ? memory.consume(client) : before;
  if (shared === undefined || own.remaining < shared.remaining) return own;
  if (shared.remaining < own.remaining) return shared;
  return { ...own, resetMs: Math.max(own.resetMs, shared.resetMs) };
}

/** Asks the store, which counts an allowed request if `isCounted` is set. */
async function decide(
  store: RedisClient,
  client: string,
  { limit, windowMs, isCounted }: { limit: number; windowMs: number; isCounted: boolean },
): Promise<Decision> {
  const args = [limit, windowMs, isCounted ? 1 : 0].map(String);
  const reply = await store.send("EVAL", [SCRIPT, "1", `roadbook:limit:${client}`, ...args]);
  const [allowed, remaining, resetMs] = Array.isArray(reply) ? reply : [];
  const isWithin = (value: unknown, min: number, max: number) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  // A refusal with searches left would be ignored in favour of memory, and not be counted there.
  const isDecision =
    isWithin(allowed, 0, 1) &&
    isWithin(remaining, 0, allowed === 1 ? limit : 0) &&
    isWithin(resetMs, 1, windowMs + MAX_LAG_MS);
  if (!isDecision) throw new Error(UNEXPECTED);
  return { allowed: allowed === 1, limit, remaining, resetMs };
}

/**
 * Settles like `reply`, or rejects after the deadline. Two timers split the wait, so that a lagging
 * process reads replies in between and a reply that has already arrived is never late.
 */
function within<T>(deadlineMs: number, reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`no response within ${deadlineMs} ms`));
    const startMs = performance.now();
    let timer = setTimeout(() => {
      // A command may have been sent only after the lag, so the store gets a whole deadline.
      const hasLagged = performance.now() - startMs > deadlineMs;
      timer = setTimeout(fail, hasLagged ? deadlineMs : deadlineMs / 2);
    }, deadlineMs / 2);
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Reduces an error to its code, because some messages repeat the command and its password. */
function reasonOf(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error();
  if (message === UNEXPECTED || message.startsWith("no response within")) return message;
  const [, reply] = /^([A-Z]{2,}) /.exec(message) ?? [];
  if (reply) return `the store responded with ${reply}`;
  return `cannot connect${codeOf(error) && ` (${codeOf(error)})`}`;
}
