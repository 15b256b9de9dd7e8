/**
 * Owns the limiter that several instances share through one Redis or Valkey, and what it does when
 * the store is away: it decides in memory, at once. Never logs, and never lets a word of the store's
 * URL into a message.
 */
import { RedisClient } from "bun";
import { DEFAULT_MAX_CLIENTS, type Limiter, type LimiterOptions } from "./limiter.ts";
import { createWindow, type Decision } from "./window.ts";

export interface SharedLimiterOptions extends LimiterOptions {
  /** See {@link parseStoreUrl}. */
  url: string;
  /** What the store's keys begin with. */
  keyPrefix?: string;
  /** The store has gone, or was never there: memory decides from now on. */
  onDown?: (reason: string) => void;
  /** The store decides (again). Also called when it does from the start. */
  onUp?: () => void;
}

/** A decision that the store has not made by then is memory's. */
const DEADLINE_MS = 50;
const CONNECT_MS = 1000;

/** After a failure the store is tried again so much later, then twice that, up to the last. */
const RETRY_MS = 100;
const MAX_RETRY_MS = 5000;

/** A store that stayed up for so long has recovered: the next failure starts from RETRY_MS. */
const STEADY_MS = 60_000;

/**
 * The window of `window.ts` on the store's clock, whole and atomic: a list of timestamps a
 * client, oldest first, that the store drops when its newest leaves the window. Time stands still while
 * the store's clock is behind a client's newest. The search is binary because a large limit can
 * leave 100,000 timestamps to drop, and a pop each would hold up the store for a tenth of a second.
 * Needs Redis 5 or any Valkey.
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
 * One budget a client over all instances with the same URL, prefix, limit and window. Waits for
 * the store for {@link CONNECT_MS} at most; without it, starts in memory.
 *
 * What the store allows is also counted in memory, so a client that has spent its budget here
 * finds it spent when the store goes. What memory allows meanwhile, the store never hears of.
 *
 * @throws RangeError for a URL, limit or window outside their bounds.
 */
export async function openSharedLimiter(options: SharedLimiterOptions): Promise<Limiter> {
  const { limit, windowMs, maxClients = DEFAULT_MAX_CLIENTS } = options;
  const { clock = () => performance.now(), keyPrefix = "roadbook:limit:" } = options;
  const { onDown = () => {}, onUp = () => {} } = options;
  const url = parseStoreUrl(options.url);
  const window = createWindow({ limit, windowMs, maxClients });

  /** The connection in use; none while the store is down. */
  let store: RedisClient | undefined;
  let upSince = 0;
  let retryMs = RETRY_MS;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let announcedDown = false;
  let closed = false;

  /** A new connection for each try: one that hangs may never say so. */
  async function connect(): Promise<void> {
    const candidate = new RedisClient(url, {
      autoReconnect: false,
      // Its own clock runs on while this process is busy, and is no judge of the store.
      connectionTimeout: 10 * CONNECT_MS,
      enableOfflineQueue: false,
    });
    candidate.onclose = () => lose(candidate, "the connection was closed");
    try {
      await within(CONNECT_MS, candidate.connect());
      // A decision on a key of its own shows that this user may write, and how fast the store is.
      await within(DEADLINE_MS, decide(candidate, `${keyPrefix}probe`, 1, 1));
    } catch (error) {
      candidate.close();
      const reason = reasonOf(error) ?? (await findAuthError(url)) ?? "no connection";
      if (closed) return;
      if (!announcedDown) onDown(reason);
      announcedDown = true;
      tryAgainLater();
      return;
    }
    if (closed) {
      candidate.close();
      return;
    }
    store = candidate;
    upSince = performance.now();
    announcedDown = false;
    onUp();
  }

  function tryAgainLater(): void {
    retry = setTimeout(connect, retryMs);
    retry.unref();
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
  }

  /** Of many decisions that fail at once, the first is the one that counts. */
  function lose(lost: RedisClient, reason: string): void {
    if (lost !== store) return;
    store = undefined;
    // Rejects what else is under way, which then falls back without waiting for its own deadline.
    lost.close();
    if (closed) return;
    if (performance.now() - upSince > STEADY_MS) retryMs = RETRY_MS;
    announcedDown = true;
    onDown(reason);
    tryAgainLater();
  }

  async function consumeFrom(used: RedisClient, client: string): Promise<Decision> {
    try {
      const decided = decide(used, keyPrefix + client, limit, windowMs);
      const decision = await within(DEADLINE_MS, decided);
      if (decision.allowed) window.consume(client, clock());
      return decision;
    } catch (error) {
      lose(used, reasonOf(error) ?? "the connection was closed");
      return window.consume(client, clock());
    }
  }

  await connect();
  return {
    consume: (client) => (store ? consumeFrom(store, client) : window.consume(client, clock())),
    status: () => ({ store: "redis", up: store !== undefined, clients: window.size }),
    close() {
      closed = true;
      clearTimeout(retry);
      if (store) lose(store, "closed");
    },
  };
}

/**
 * `redis://`, `valkey://`, or `rediss://` for TLS, with `user:password@`, port and `/database` if
 * need be.
 *
 * @throws RangeError that does not repeat the URL, which may hold a password.
 */
export function parseStoreUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^(?:rediss?|valkey):$/.test(url.protocol) || url.hostname === "") {
    throw new RangeError(
      "a store's URL starts with redis://, rediss:// or valkey://, and a host; in a password, / is %2F, @ is %40",
    );
  }
  if (!/^\/?\d{0,4}$/.test(url.pathname) || url.search !== "" || url.hash !== "") {
    throw new RangeError(
      "a store's URL ends with the number of a database or its host; in a password, / is %2F, ? is %3F, # is %23",
    );
  }
  return text;
}

async function decide(
  store: RedisClient,
  key: string,
  limit: number,
  windowMs: number,
): Promise<Decision> {
  const args = ["1", key, String(limit), String(windowMs)];
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
 * What a server that closes connections says to the user and password: Bun's client does not pass it
 * on. Undefined when it accepts them. Never rejects.
 */
async function findAuthError(text: string): Promise<string | undefined> {
  const { protocol, hostname, port, username, password } = new URL(text);
  const credentials = [decodeURIComponent(username), decodeURIComponent(password)].filter(Boolean);
  const command = credentials.length > 0 ? ["AUTH", ...credentials] : ["PING"];
  const { promise: reply, resolve } = Promise.withResolvers<string>();
  const connecting = Bun.connect({
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || DEFAULT_PORT),
    tls: protocol === "rediss:",
    socket: {
      open: (socket) => void socket.write(formatCommand(command)),
      data: (_, bytes) => resolve(bytes.toString("latin1")),
      close: () => resolve(""),
    },
  });
  connecting.catch(() => resolve(""));
  const response = await Promise.race([reply, Bun.sleep(CONNECT_MS).then(() => "")]);
  connecting.then((socket) => socket.terminate()).catch(() => {});
  if (!/^-(?:WRONGPASS|NOAUTH|ERR) /.test(response)) return undefined;
  return credentials.length > 0 ? WRONG_PASSWORD : "the store wants a password";
}

const DEFAULT_PORT = 6379;
const WRONG_PASSWORD = "the store refused the user or password";

/** As the protocol has it: an array of strings. */
function formatCommand(args: string[]): string {
  const lines = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
  return `*${args.length}\r\n${lines.join("")}`;
}

/**
 * Of the store's own errors, no more than the code: some repeat the command, AUTH's included.
 * Undefined where the connection failed.
 */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof StoreError) return error.message;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === "ERR_REDIS_AUTHENTICATION_FAILED") return WRONG_PASSWORD;
  const isSaid = /^[A-Z]{2,} /.test(String(message));
  return isSaid ? `the store responded ${String(message).split(" ", 1)[0]}` : undefined;
}
