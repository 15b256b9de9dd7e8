/**
 * Owns the limiter that several instances share through one Redis or Valkey. Without the store it
 * decides in memory, at once. Never logs, and never lets a word of the store's URL into a message.
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
  /** One that {@link isStoreUrl}. */
  url: string;
  /** The store has gone, or was never there: memory decides from now on. */
  onDown: (reason: string) => void;
  /** The store decides (again). Also called when it does from the start. */
  onUp: () => void;
  /** The store decides, but less reliably than it should. At most once a minute for each message. */
  onWarning: (message: string) => void;
}

const KEY_PREFIX = "roadbook:limit:";

/** A decision that the store has not made by then is memory's. */
const DEADLINE_MS = 50;
const CONNECT_MS = 1000;

/** After a failure the store is tried again so much later, then twice that, up to the last. */
const RETRY_MS = 100;
const MAX_RETRY_MS = 5000;

/** A store that stayed up for so long has recovered: the next failure starts from RETRY_MS. */
const STEADY_MS = 60_000;

const WARNING_INTERVAL_MS = 60_000;

/** OpenSSL's results of verifying a certificate, and Node's for one of another host. */
const CERTIFICATE_CODE = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_)/;

/**
 * The window of `limiter.ts` on the store's clock, whole and atomic: a list of timestamps per
 * client, oldest first, that the store drops when its newest leaves the window. Time stands still while
 * the store's clock is behind a client's newest, but the wait is until that clock gets there. The
 * search is binary because a large limit can leave 100,000 timestamps to drop, and a pop each would
 * hold up the store for a tenth of a second. A full store fails at RPUSH, so it still refuses.
 */
const SCRIPT = `
local key, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local is_counted = ARGV[3] == '1'
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local function at(index) return tonumber(redis.call('LINDEX', key, index) or nil) end

local now = math.max(clock, at(-1) or clock)
local used = redis.call('LLEN', key)
local expired, high = 0, used
while expired < high do
  local middle = math.floor((expired + high) / 2)
  if now - at(middle) >= window then expired = middle + 1 else high = middle end
end
if expired > 0 then redis.call('LTRIM', key, expired, -1) end
used = used - expired
-- After the limit was lowered, several must leave before one more is allowed.
local last_to_leave = at(math.max(used - limit, 0)) or now

local allowed = used < limit
if allowed and is_counted then
  redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIREAT', key, string.format('%.0f', now + window))
  used = used + 1
end
return { allowed and 1 or 0, math.max(limit - used, 0), last_to_leave + window - clock }
`;
const SCRIPT_SHA = new Bun.CryptoHasher("sha1").update(SCRIPT).digest("hex");

/**
 * One budget per client over all instances with the same URL, limit and window. Waits for the store
 * for about {@link CONNECT_MS} at most; without it, starts in memory. See {@link consumeBoth}.
 */
export async function openSharedLimiter(options: SharedLimiterOptions): Promise<Limiter> {
  const { url, limit, windowMs, onDown, onUp, onWarning } = options;
  const memory = createLimiter(options);

  /** The connection in use; none while the store is down. */
  let store: RedisClient | undefined;
  let upSince = 0;
  let retryMs = RETRY_MS;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let isAnnouncedDown = false;
  let isClosed = false;
  const warnedAt = new Map<string, number>();

  /** A new connection for each try: one that hangs may never say so. */
  async function connect(): Promise<void> {
    const candidate = new RedisClient(url, {
      autoReconnect: false,
      // Its own clock runs on while this process is busy, and is no judge of the store.
      connectionTimeout: 10 * CONNECT_MS,
    });
    candidate.onclose = () => lose(candidate, "the connection was closed");
    let evictionPolicy: string | undefined;
    try {
      // A decision on a key of its own shows that this user may write; and only what is sent before
      // the connection is there learns of a wrong password. The second shows how fast the store is.
      await within(CONNECT_MS, probe(candidate));
      await within(DEADLINE_MS, probe(candidate));
      evictionPolicy = await within(DEADLINE_MS, findEvictionPolicy(candidate));
    } catch (error) {
      candidate.close();
      goDown(reasonOf(error, "no connection"));
      return;
    }
    if (isClosed) {
      candidate.close();
      return;
    }
    store = candidate;
    upSince = performance.now();
    isAnnouncedDown = false;
    onUp();
    if (evictionPolicy !== undefined && evictionPolicy !== "noeviction") {
      warn(
        `a full rate limit store forgets clients: set its maxmemory-policy to noeviction, ` +
          `not ${evictionPolicy}`,
      );
    }
  }

  function warn(message: string): void {
    const now = performance.now();
    if (now - (warnedAt.get(message) ?? Number.NEGATIVE_INFINITY) < WARNING_INTERVAL_MS) return;
    warnedAt.set(message, now);
    onWarning(message);
  }

  /** Of many decisions that fail at once, the first is the one that counts. */
  function lose(lost: RedisClient, reason: string): void {
    if (lost !== store) return;
    store = undefined;
    // Rejects what else is under way, which then falls back without waiting for its own deadline.
    lost.close();
    if (performance.now() - upSince > STEADY_MS) retryMs = RETRY_MS;
    goDown(reason);
  }

  function goDown(reason: string): void {
    if (isClosed) return;
    if (!isAnnouncedDown) onDown(reason);
    isAnnouncedDown = true;
    retry = setTimeout(connect, retryMs);
    retry.unref();
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
  }

  /** The store's decision, or undefined when it makes none. */
  async function ask(
    used: RedisClient,
    client: string,
    isCounted: boolean,
  ): Promise<Decision | undefined> {
    try {
      return await within(DEADLINE_MS, decide(used, client, { limit, windowMs, isCounted }));
    } catch (error) {
      if (isFull(error)) {
        warn("the rate limit store is full, counting new searches in memory: raise its maxmemory");
      } else if (error instanceof UnexpectedReply || isServerError(error)) {
        await ignoreKey(used, reasonOf(error));
      } else {
        lose(used, reasonOf(error));
      }
      return undefined;
    }
  }

  /** One bad key is no reason to stop asking for the others, unless the probe fails as well. */
  async function ignoreKey(used: RedisClient, reason: string): Promise<void> {
    try {
      await within(DEADLINE_MS, probe(used));
      warn(`the rate limit store cannot count a client, counting it in memory: ${reason}`);
    } catch (error) {
      lose(used, reasonOf(error));
    }
  }

  await connect();
  return {
    consume(client) {
      const used = store;
      if (used === undefined) return memory.consume(client);
      return consumeBoth(memory, client, (isCounted) => ask(used, client, isCounted));
    },
    status: () => ({ store: "redis", up: store !== undefined, clients: memory.status().clients }),
    close() {
      isClosed = true;
      clearTimeout(retry);
      if (store) lose(store, "closed");
    },
  };
}

/**
 * Allows a request if both this process's memory and the store do. Memory comes first, so that
 * `maxClients` bounds all searches of this instance, and a store that was late or has lost its counts
 * gives no client more than the limit here. The store never learns of requests that memory allows by
 * itself. It is asked even if memory refuses, as the client may have to wait for the store longer.
 *
 * @param ask resolves with undefined if memory must decide by itself; never rejects
 */
export async function consumeBoth(
  memory: MemoryLimiter,
  client: string,
  ask: (isCounted: boolean) => Promise<Decision | undefined>,
): Promise<Decision> {
  const before = memory.peek(client);
  const shared = await ask(before.allowed);
  const isAllowed = before.allowed && shared?.allowed !== false;
  // Memory may refuse by now: requests of the same client have been waiting for the store as well.
  const own = isAllowed ? memory.consume(client) : before;
  if (shared === undefined || own.remaining < shared.remaining) return own;
  if (shared.remaining < own.remaining) return shared;
  return { ...own, resetMs: Math.max(own.resetMs, shared.resetMs) };
}

/**
 * `redis://`, `valkey://`, or `rediss://` for TLS, with `user:password@`, port and `/database` if
 * need be. In a password, / is %2F, @ is %40, ? is %3F and # is %23.
 */
export function isStoreUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^(?:rediss?|valkey):$/.test(url.protocol) &&
    url.hostname !== "" &&
    /^\/?\d{0,4}$/.test(url.pathname) &&
    url.search === "" &&
    url.hash === ""
  );
}

/** Whether the store is one, lets this user count, and is in time. A full one is. */
async function probe(store: RedisClient): Promise<void> {
  try {
    // Always allowed, as only a decision that is counted is written.
    await decide(store, "probe", { limit: 1_000_000, windowMs: 1, isCounted: true });
  } catch (error) {
    if (!isFull(error)) throw error;
  }
}

/** The store's rule for making room when it is full. Undefined when this user may not run INFO. */
async function findEvictionPolicy(store: RedisClient): Promise<string | undefined> {
  try {
    const info = await store.send("INFO", ["memory"]);
    return /^maxmemory_policy:(\S+)/m.exec(String(info))?.[1];
  } catch (error) {
    if (isServerError(error)) return undefined;
    throw error;
  }
}

async function decide(
  store: RedisClient,
  client: string,
  { limit, windowMs, isCounted }: { limit: number; windowMs: number; isCounted: boolean },
): Promise<Decision> {
  const args = ["1", KEY_PREFIX + client, String(limit), String(windowMs), isCounted ? "1" : "0"];
  let reply: unknown;
  try {
    reply = await store.send("EVALSHA", [SCRIPT_SHA, ...args]);
  } catch (error) {
    // The first time, and after the store was restarted or flushed.
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
    reply = await store.send("EVAL", [SCRIPT, ...args]);
  }
  const [allowed, remaining, resetMs] = Array.isArray(reply) ? reply : [];
  const isDecision =
    (allowed === 0 || allowed === 1) &&
    isWhole(remaining, 0, limit) &&
    isWhole(resetMs, 1, Number.MAX_SAFE_INTEGER);
  // What says `+OK` to anything is no Redis.
  if (!isDecision) throw new UnexpectedReply("what the store says is no decision");
  return { allowed: allowed === 1, limit, remaining, resetMs };
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

/** Its message is for the log as it is. */
class StoreError extends Error {}

class UnexpectedReply extends StoreError {}

/** The store is there and has refused a command. */
function isServerError(error: unknown): error is Error {
  return error instanceof Error && codeOf(error) === "ERR_REDIS_SERVER_ERROR";
}

/** Over its maxmemory: it refuses to add a timestamp. */
function isFull(error: unknown): boolean {
  return isServerError(error) && error.message.startsWith("OOM ");
}

/**
 * The outcome of `reply`, or an error after the deadline. That comes in two steps: when this process
 * lags, it reads what the store has sent between them, so no reply is late because nobody looked.
 */
function within<T>(deadlineMs: number, reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new StoreError(`no response within ${deadlineMs} ms`));
    let timer = setTimeout(() => {
      timer = setTimeout(fail, deadlineMs / 2);
    }, deadlineMs / 2);
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * For the log. A message from the store is reduced to its code: some repeat the command, AUTH's
 * included. A message about a certificate is cut before the host name.
 */
function reasonOf(error: unknown, otherwise = "the connection was closed"): string {
  if (error instanceof StoreError) return error.message;
  const { message } = error instanceof Error ? error : new Error();
  const code = codeOf(error);
  if (CERTIFICATE_CODE.test(code)) {
    return `the store's certificate was rejected: ${message.split(":")[0]}`;
  }
  if (code === "EPROTO") return `the TLS handshake failed: ${message.split(":").at(-1)}`;
  const [, reply] = /^([A-Z]{2,}) /.exec(message) ?? [];
  if (reply === "NOAUTH") return "the store wants a password";
  if (reply === "WRONGPASS") return "the store refused the user or password";
  return reply ? `the store responded ${reply}` : otherwise;
}
