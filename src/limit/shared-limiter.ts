/**
 * The search limit that several instances share through one store, a Redis or Valkey server. While
 * the store is down, memory decides without waiting. Callbacks get no part of the store's URL.
 */
import { RedisClient } from "bun";
import { LRUCache } from "lru-cache";
import { UsageError } from "../domain/invalid-value.ts";
import { codeOf } from "../files/errors.ts";
import { within } from "../files/waiting.ts";
import type { LimitedClient } from "./client-table.ts";
import {
  createMemoryLimiter,
  type Decision,
  type Limiter,
  type LimiterOptions,
  type LimitPolicy,
  type MemoryLimiter,
} from "./limiter.ts";

export interface StoreOptions {
  url: string;
  /** Called when the store becomes unavailable, also at the start. */
  onDown: (reason: string) => void;
  /** Called when the store becomes available, for the first time or again. */
  onUp: () => void;
}

const TIMING = {
  /** If the store takes longer than this to decide, memory decides. */
  deadlineMs: 50,
  /** How long the store may take for its first decision after a connection. */
  connectMs: 1000,
  retryMs: 1000,
};

/** How long a refusal is repeated without asking the store, whose keys may be deleted meanwhile. */
const REPEAT_MS = 1000;

/**
 * If the store does not decide in time, the limiter starts in memory. Only tests give a `timing`,
 * because a store on a busy machine may miss the usual deadline.
 */
export async function openSharedLimiter(
  options: LimiterOptions & StoreOptions,
  timing: Partial<typeof TIMING> = {},
): Promise<Limiter> {
  const memory = createMemoryLimiter(options);
  const store = await connectStore(options, memory.policy, { ...TIMING, ...timing });
  /** When clients that were just refused may search again. */
  const refusals = new LRUCache<string, number>({ max: 1000 });
  const now = () => Math.floor(performance.now());

  /** Repeats a recent refusal, so that nobody's burst keeps the store from deciding in time. */
  async function consumeShared(client: LimitedClient): Promise<Decision> {
    const freeMs = refusals.get(client.key);
    if (freeMs !== undefined) {
      return { allowed: false, remaining: 0, resetMs: Math.max(freeMs - now(), 1) };
    }

    const decision = await consumeBoth(memory, client, (isCounted) =>
      store.decide(client.key, isCounted),
    );
    if (!decision.allowed) {
      const ttl = Math.min(decision.resetMs, REPEAT_MS);
      refusals.set(client.key, now() + decision.resetMs, { ttl });
    }
    return decision;
  }

  return {
    ...memory,
    consume: (client) => (store.isUp() ? consumeShared(client) : memory.consume(client)),
    status: () => ({ ...memory.status(), store: "redis", up: store.isUp() }),
    reset() {
      throw new UsageError(
        "the counts are in a shared store; delete its keys roadbook:limit:* instead",
      );
    },
    /** Any later decisions are made in memory. */
    [Symbol.dispose]: store.close,
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
  client: LimitedClient,
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

/** Connects, and again after each failure. */
async function connectStore(
  { url, onDown, onUp }: StoreOptions,
  policy: LimitPolicy,
  { deadlineMs, connectMs, retryMs }: typeof TIMING,
) {
  /** Undefined while the store is down. */
  let current: RedisClient | undefined;
  let retryTimer: Timer | undefined;
  let isClosed = false;

  /** Opens a new connection, because one that hangs may never report an error. */
  async function connect(isRetry: boolean): Promise<void> {
    const connection = new RedisClient(url, { autoReconnect: false });
    connection.onclose = () => drop(connection, "the connection was closed");

    // The probe never reaches its limit, so it is always counted, which proves write access. With a
    // wrong password, a command fails only if it is sent before the connection is open.
    const probe = { key: "probe", limit: 1_000_000, windowMs: 1, isCounted: true };
    try {
      await beforeDeadline(connectMs, runWindow(connection, probe));
      await beforeDeadline(deadlineMs, runWindow(connection, probe));
    } catch (error) {
      connection.close();
      if (!isRetry) onDown(reasonWithoutSecrets(error));
      return retryLater();
    }

    if (isClosed) return connection.close();
    current = connection;
    onUp();
  }

  function retryLater(): void {
    if (!isClosed) retryTimer = setTimeout(() => connect(true), retryMs).unref();
  }

  /** Has an effect only once per connection, even if many decisions fail at the same time. */
  function drop(failed: RedisClient, reason: string): void {
    if (failed !== current) return;
    current = undefined;
    // Closing rejects all pending decisions, so that none of them waits for its own deadline.
    failed.close();
    if (!isClosed) onDown(reason);
    retryLater();
  }

  await connect(false);
  return {
    isUp: () => current !== undefined,
    /** Counts an allowed request if `isCounted` is set. Resolves to undefined if the store is down. */
    async decide(key: string, isCounted: boolean): Promise<Decision | undefined> {
      const connection = current;
      if (!connection) return undefined;
      try {
        const decision = runWindow(connection, { ...policy, key, isCounted });
        return await beforeDeadline(deadlineMs, decision);
      } catch (error) {
        drop(connection, reasonWithoutSecrets(error));
        return undefined;
      }
    },
    close(): void {
      isClosed = true;
      clearTimeout(retryTimer);
      if (current) drop(current, "closed");
    },
  };
}

/**
 * The same sliding window as in limiter.ts, but run atomically on the store and by its clock, in Lua.
 * Each client has a list of timestamps, oldest first. While the clock is behind the newest one, that
 * timestamp counts as the current time, and the lag is added to the reported wait. Returns whether the
 * request is allowed, how many remain, and the wait in milliseconds.
 */
const WINDOW = `
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

/** A wait may exceed the window by as much as the store's clock was set back. */
const MAX_LAG_MS = 86_400_000;

/** An error whose message has no part of the store's URL, and no reply. */
class StoreError extends Error {}

interface WindowArguments extends LimitPolicy {
  key: string;
  isCounted: boolean;
}

/** Lets the store decide, which counts an allowed request if `isCounted` is set. */
async function runWindow(
  connection: RedisClient,
  { key, limit, windowMs, isCounted }: WindowArguments,
): Promise<Decision> {
  const args = [limit, windowMs, isCounted ? 1 : 0].map(String);
  const reply = await connection.send("EVAL", [WINDOW, "1", `roadbook:limit:${key}`, ...args]);
  const [allowed, remaining, resetMs] = Array.isArray(reply) ? reply : [];

  const isWithin = (value: unknown, min: number, max: number) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  // A refusal with searches left would be ignored in favour of memory, and not be counted there.
  const isDecision =
    isWithin(allowed, 0, 1) &&
    isWithin(remaining, 0, allowed === 1 ? limit : 0) &&
    isWithin(resetMs, 1, windowMs + MAX_LAG_MS);
  if (!isDecision) throw new StoreError("unexpected reply from the store");
  return { allowed: allowed === 1, remaining, resetMs };
}

/** Settles like `reply`, or rejects after `waitMs`. */
const beforeDeadline = <T>(waitMs: number, reply: Promise<T>): Promise<T> =>
  within(waitMs, reply, () => new StoreError(`no response within ${waitMs} ms`));

/** Reduces an error to its code, because some messages repeat the command and its password. */
function reasonWithoutSecrets(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error();
  if (error instanceof StoreError) return message;
  const [, reply] = /^([A-Z]{2,}) /.exec(message) ?? [];
  if (reply) return `the store responded with ${reply}`;
  return `cannot connect${codeOf(error) && ` (${codeOf(error)})`}`;
}
