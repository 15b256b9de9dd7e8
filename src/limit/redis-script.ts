/**
 * The script and commands that the shared limit sends to Redis or Valkey, and the meaning of the
 * errors that come back. Messages never contain any part of the store's URL.
 */
import type { RedisClient } from "bun";
import { codeOf } from "../files/errors.ts";
import type { Decision } from "./limiter.ts";

const KEY_PREFIX = "roadbook:limit:";

/**
 * Error codes for a rejected certificate: OpenSSL's verification errors, and Node's code for a
 * certificate that was issued for another host.
 */
const CERTIFICATE_CODE = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_)/;

/**
 * The same sliding window as in `limiter.ts`, but run atomically on the store and by the store's
 * clock. Each client has a list of timestamps, oldest first. The store deletes a list when its
 * newest timestamp leaves the window. While the store's clock is behind a client's newest
 * timestamp, that timestamp counts as the current time, and the lag is added to the reported wait.
 * Expired timestamps are found by binary search and trimmed together: with a large limit, there may
 * be 100,000 of them, and popping them one by one would block the store for 0.1 s. RPUSH is the
 * only command that a full store rejects, so a full store still refuses clients over the limit.
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
const SCRIPT_SHA = new Bun.CryptoHasher("sha1").update(SCRIPT).digest("hex");

/**
 * Rejects if the store is not Redis or Valkey, or does not let this user write. A full store is
 * accepted.
 */
export async function probe(store: RedisClient): Promise<void> {
  try {
    // This limit is never reached, so the probe is always counted, which writes to the store.
    await decide(store, "probe", { limit: 1_000_000, windowMs: 1, isCounted: true });
  } catch (error) {
    if (!isFullError(error)) throw error;
  }
}

/** Returns the store's `maxmemory-policy`, or undefined if this user may not run INFO. */
export async function findEvictionPolicy(store: RedisClient): Promise<string | undefined> {
  try {
    const info = await store.send("INFO", ["memory"]);
    return /^maxmemory_policy:(\S+)/m.exec(String(info))?.[1];
  } catch (error) {
    if (isServerError(error)) return undefined;
    throw error;
  }
}

/**
 * Asks the store for a decision. If `isCounted` is set and the request is allowed, the store counts
 * the request.
 */
export async function decide(
  store: RedisClient,
  client: string,
  { limit, windowMs, isCounted }: { limit: number; windowMs: number; isCounted: boolean },
): Promise<Decision> {
  const args = ["1", KEY_PREFIX + client, String(limit), String(windowMs), isCounted ? "1" : "0"];
  let reply: unknown;
  try {
    reply = await store.send("EVALSHA", [SCRIPT_SHA, ...args]);
  } catch (error) {
    // NOSCRIPT: the store has not seen the script yet, or lost the script in a restart or a flush.
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
    reply = await store.send("EVAL", [SCRIPT, ...args]);
  }
  const [allowed, remaining, resetMs] = Array.isArray(reply) ? reply : [];
  const isDecision =
    (allowed === 0 || allowed === 1) &&
    isWhole(remaining, 0, limit) &&
    isWhole(resetMs, 1, Number.MAX_SAFE_INTEGER);
  if (!isDecision) throw new UnexpectedReply("unexpected reply from the store");
  return { allowed: allowed === 1, limit, remaining, resetMs };
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

/** An error whose message is safe to log verbatim. */
class StoreError extends Error {}

export class UnexpectedReply extends StoreError {}

/** Whether the store responded to a command with an error. */
export function isServerError(error: unknown): error is Error {
  return error instanceof Error && codeOf(error) === "ERR_REDIS_SERVER_ERROR";
}

/** Whether the store has reached its `maxmemory` and cannot add a timestamp. */
export function isFullError(error: unknown): boolean {
  return isServerError(error) && error.message.startsWith("OOM ");
}

/**
 * Settles like `reply`, or rejects after the deadline, which consists of two timers. A process that
 * lags reads pending replies between the two timers, so a reply that has already arrived never
 * counts as late. A command may have been sent only after the lag, so the second timer is then as
 * long as the deadline.
 */
export function within<T>(deadlineMs: number, reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new StoreError(`no response within ${deadlineMs} ms`));
    const startMs = performance.now();
    let timer = setTimeout(() => {
      const hasLagged = performance.now() - startMs > deadlineMs;
      timer = setTimeout(fail, hasLagged ? deadlineMs : deadlineMs / 2);
    }, deadlineMs / 2);
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * Returns a reason that is safe to log. An error from the store is reduced to its code, because
 * some errors repeat the command, even AUTH with its password. The message of a certificate error
 * is cut off before the host name.
 */
export function reasonOf(error: unknown, fallback = "the connection was closed"): string {
  if (error instanceof StoreError) return error.message;
  const { message } = error instanceof Error ? error : new Error();
  const code = codeOf(error);
  if (CERTIFICATE_CODE.test(code)) {
    return `the store's certificate was rejected: ${message.split(":")[0]}`;
  }
  if (code === "EPROTO") return `the TLS handshake failed: ${message.split(":").at(-1)}`;
  const [, errorCode] = /^([A-Z]{2,}) /.exec(message) ?? [];
  if (errorCode === "NOAUTH") return "the store requires a password";
  if (errorCode === "WRONGPASS") return "the store rejected the user name or password";
  return errorCode ? `the store responded with ${errorCode}` : fallback;
}
