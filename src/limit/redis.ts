/**
 * The search limit that several instances share through one store, a Redis or Valkey server. While
 * the store is down, memory decides without waiting. Callbacks get no part of the store's URL.
 */
import { RedisClient } from "bun";
import { codeOf } from "../files/errors.ts";
import { createLimiter, type Decision, type LimiterOptions } from "./limiter.ts";
import script from "./window.lua" with { type: "text" };

export interface SharedLimiterOptions extends LimiterOptions {
  url: string;
  onDown: (reason: string) => void;
  /** Called when the store becomes available, for the first time or again. */
  onUp: () => void;
  /** If the store takes longer than this to decide, memory decides. */
  deadlineMs?: number;
  /** How long the store may take for its first decision after a connection. */
  connectMs?: number;
  retryMs?: number;
}

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
}: SharedLimiterOptions) {
  const { limit, windowMs } = options;
  const memory = createLimiter(options);
  /** Undefined while the store is down. */
  let store: RedisClient | undefined;
  let retryTimer: Timer | undefined;
  let isClosed = false;

  /** Opens a new connection, because one that hangs may never report an error. */
  async function connect(isRetry: boolean): Promise<void> {
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
      if (!isRetry) onDown(reasonOf(error));
      return retryLater();
    }
    if (isClosed) return candidate.close();
    store = candidate;
    onUp();
  }

  /** Has an effect only once per connection, even if many decisions fail at the same time. */
  function drop(failed: RedisClient, reason: string): undefined {
    if (failed !== store) return;
    store = undefined;
    // Closing rejects all pending decisions, so that none of them waits for its own deadline.
    failed.close();
    if (!isClosed) onDown(reason);
    retryLater();
  }

  function retryLater(): void {
    if (!isClosed) retryTimer = setTimeout(connect, retryMs, true).unref();
  }

  await connect(false);
  return {
    consume(client: string): Decision | Promise<Decision> {
      const asked = store;
      if (asked === undefined) return memory.consume(client);
      return consumeBoth(memory, client, (isCounted) =>
        within(deadlineMs, decide(asked, client, { limit, windowMs, isCounted })).catch((error) =>
          drop(asked, reasonOf(error)),
        ),
      );
    },
    status: () => ({ ...memory.status(), store: "redis" as const, up: store !== undefined }),
    /** Any later decisions are made in memory. */
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
  memory: ReturnType<typeof createLimiter>,
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
  const reply = await store.send("EVAL", [script, "1", `roadbook:limit:${client}`, ...args]);
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
