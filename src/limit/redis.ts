/**
 * Owns the limiter that several instances share through one Redis or Valkey, and what it does when
 * the store is away: it decides in memory, at once. Never logs, and never lets a word of the store's
 * URL into a message.
 */
import { RedisClient } from "bun";
import { createLimiter, type Decision, type Limiter, type LimiterOptions } from "./limiter.ts";

export interface SharedLimiterOptions extends LimiterOptions {
  /** One that {@link isStoreUrl}. */
  url: string;
  /** The store has gone, or was never there: memory decides from now on. */
  onDown: (reason: string) => void;
  /** The store decides (again). Also called when it does from the start. */
  onUp: () => void;
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

/**
 * The window of `limiter.ts` on the store's clock, whole and atomic: a list of timestamps a
 * client, oldest first, that the store drops when its newest leaves the window. Time stands still while
 * the store's clock is behind a client's newest. The search is binary because a large limit can
 * leave 100,000 timestamps to drop, and a pop each would hold up the store for a tenth of a second.
 */
const SCRIPT = `
local key, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function at(index) return tonumber(redis.call('LINDEX', key, index) or nil) end

now = math.max(now, at(-1) or now)
local used = redis.call('LLEN', key)
local expired, high = 0, used
while expired < high do
  local middle = math.floor((expired + high) / 2)
  if now - at(middle) >= window then expired = middle + 1 else high = middle end
end
if expired > 0 then redis.call('LTRIM', key, expired, -1) end
used = used - expired
local oldest = at(0) or now

local allowed = used < limit
if allowed then
  redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIREAT', key, string.format('%.0f', now + window))
  used = used + 1
end
return { allowed and 1 or 0, limit - used, oldest + window - now }
`;
const SCRIPT_SHA = new Bun.CryptoHasher("sha1").update(SCRIPT).digest("hex");

/**
 * One budget a client over all instances with the same URL, limit and window. Waits for the store for
 * {@link CONNECT_MS} at most; without it, starts in memory.
 *
 * What the store allows is also counted in memory, so a client that has spent its budget here
 * finds it spent when the store goes. What memory allows meanwhile, the store never hears of.
 */
export async function openSharedLimiter(options: SharedLimiterOptions): Promise<Limiter> {
  const { url, limit, windowMs, onDown, onUp } = options;
  const memory = createLimiter(options);

  /** The connection in use; none while the store is down. */
  let store: RedisClient | undefined;
  let upSince = 0;
  let retryMs = RETRY_MS;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let isAnnouncedDown = false;
  let isClosed = false;

  /** A new connection for each try: one that hangs may never say so. */
  async function connect(): Promise<void> {
    const candidate = new RedisClient(url, {
      autoReconnect: false,
      // Its own clock runs on while this process is busy, and is no judge of the store.
      connectionTimeout: 10 * CONNECT_MS,
    });
    candidate.onclose = () => lose(candidate, "the connection was closed");
    const probe = () => decide(candidate, "probe", 1, 1);
    try {
      // A decision on a key of its own shows that this user may write; and only what is sent before
      // the connection is there learns of a wrong password. The second shows how fast the store is.
      await within(CONNECT_MS, probe());
      await within(DEADLINE_MS, probe());
    } catch (error) {
      candidate.close();
      goDown(reasonOf(error) ?? "no connection");
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

  async function consumeFrom(used: RedisClient, client: string): Promise<Decision> {
    try {
      const decision = await within(DEADLINE_MS, decide(used, client, limit, windowMs));
      if (decision.allowed) memory.consume(client);
      return decision;
    } catch (error) {
      lose(used, reasonOf(error) ?? "the connection was closed");
      return memory.consume(client);
    }
  }

  await connect();
  return {
    consume: (client) => (store ? consumeFrom(store, client) : memory.consume(client)),
    status: () => ({ store: "redis", up: store !== undefined, clients: memory.status().clients }),
    close() {
      isClosed = true;
      clearTimeout(retry);
      if (store) lose(store, "closed");
    },
  };
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

async function decide(
  store: RedisClient,
  client: string,
  limit: number,
  windowMs: number,
): Promise<Decision> {
  const args = ["1", KEY_PREFIX + client, String(limit), String(windowMs)];
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
    isWhole(remaining, 0, limit - allowed) &&
    isWhole(resetMs, 1, windowMs);
  // What says `+OK` to anything is no Redis.
  if (!isDecision) throw new StoreError("what the store says is no decision");
  return { allowed: allowed === 1, limit, remaining, resetMs };
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

/** Its message is for the log as it is. */
class StoreError extends Error {}

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
 * Of the store's own errors, no more than the code: some repeat the command, AUTH's included.
 * Undefined where the connection failed.
 */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof StoreError) return error.message;
  const [, code] = /^([A-Z]{2,}) /.exec(error instanceof Error ? error.message : "") ?? [];
  if (code === "NOAUTH") return "the store wants a password";
  if (code === "WRONGPASS") return "the store refused the user or password";
  return code && `the store responded ${code}`;
}
