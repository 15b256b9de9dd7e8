/**
 * The search limit that several instances share through one Redis or Valkey. While the store is
 * unavailable, decisions are made in memory without waiting for it. Never logs.
 */
import { RedisClient } from "bun";
import {
  createLimiter,
  type Decision,
  type Limiter,
  type LimiterOptions,
  type LimiterStatus,
  type MemoryLimiter,
} from "./limiter.ts";
import {
  decide,
  findEvictionPolicy,
  isFullError,
  isServerError,
  probe,
  reasonOf,
  UnexpectedReply,
  within,
} from "./store.ts";

export interface SharedLimiterOptions extends LimiterOptions {
  /** Must satisfy {@link isStoreUrl}. */
  url: string;
  /** The store is unavailable, and decisions are made in memory from now on. */
  onDown: (reason: string) => void;
  /** The store makes the decisions, for the first time or again. */
  onUp: () => void;
  /** The store works, but less reliably than it should. At most once a minute per message. */
  onWarning: (message: string) => void;
}

/** A decision that takes the store longer is made in memory. */
const DEADLINE_MS = 50;
const CONNECT_MS = 1000;

/** The delay before the first reconnect. It doubles after each failure, up to the maximum. */
const RETRY_MS = 100;
const MAX_RETRY_MS = 5000;

/** After this long without a failure, the delay starts from RETRY_MS again. */
const STEADY_MS = 60_000;

const WARNING_INTERVAL_MS = 60_000;

/**
 * One budget per client over all instances with the same URL, limit and window. Starts in memory if
 * the store does not respond within about a second. See {@link consumeBoth}.
 */
export async function openSharedLimiter(options: SharedLimiterOptions): Promise<Limiter> {
  const limiter = new SharedLimiter(options);
  await limiter.connect();
  return limiter;
}

class SharedLimiter implements Limiter {
  readonly #options: SharedLimiterOptions;
  readonly #memory: MemoryLimiter;
  /** The connection in use; undefined while the store is down. */
  #store: RedisClient | undefined;
  #upSinceMs = 0;
  #retryMs = RETRY_MS;
  #retryTimer: Timer | undefined;
  #isDownReported = false;
  #isClosed = false;
  readonly #warnedAtMs = new Map<string, number>();

  constructor(options: SharedLimiterOptions) {
    this.#options = options;
    this.#memory = createLimiter(options);
  }

  consume(client: string): Decision | Promise<Decision> {
    const store = this.#store;
    if (store === undefined) return this.#memory.consume(client);
    return consumeBoth(this.#memory, client, (isCounted) => this.#ask(store, client, isCounted));
  }

  status(): LimiterStatus {
    const { clients } = this.#memory.status();
    return { store: "redis", up: this.#store !== undefined, clients };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    if (this.#store) this.#drop(this.#store, "closed");
  }

  /** Every attempt opens a new connection, because one that hangs may never report it. */
  async connect(): Promise<void> {
    const candidate = new RedisClient(this.#options.url, {
      autoReconnect: false,
      // Runs on while the process is busy, so it must not decide whether the store is up.
      connectionTimeout: 10 * CONNECT_MS,
    });
    candidate.onclose = () => this.#drop(candidate, "the connection was closed");
    let evictionPolicy: string | undefined;
    try {
      // The first probe shows that this user may write. It is sent before the connection is open,
      // because only such commands are rejected for a wrong password. The second shows the latency.
      await within(CONNECT_MS, probe(candidate));
      await within(DEADLINE_MS, probe(candidate));
      evictionPolicy = await within(DEADLINE_MS, findEvictionPolicy(candidate));
    } catch (error) {
      candidate.close();
      this.#goDown(reasonOf(error, "cannot connect"));
      return;
    }
    if (this.#isClosed) {
      candidate.close();
      return;
    }
    this.#store = candidate;
    this.#upSinceMs = performance.now();
    this.#isDownReported = false;
    this.#options.onUp();
    if (evictionPolicy !== undefined && evictionPolicy !== "noeviction") {
      this.#warn(
        "the rate limit store forgets clients when it is full: " +
          `set its maxmemory-policy to noeviction, not ${evictionPolicy}`,
      );
    }
  }

  /** The store's decision, or undefined if there is none. */
  async #ask(
    store: RedisClient,
    client: string,
    isCounted: boolean,
  ): Promise<Decision | undefined> {
    const { limit, windowMs } = this.#options;
    try {
      return await within(DEADLINE_MS, decide(store, client, { limit, windowMs, isCounted }));
    } catch (error) {
      if (isFullError(error)) {
        this.#warn(
          "the rate limit store is full, so new searches are counted in memory; raise its maxmemory",
        );
      } else if (error instanceof UnexpectedReply || isServerError(error)) {
        await this.#ignoreKey(store, reasonOf(error));
      } else {
        this.#drop(store, reasonOf(error));
      }
      return undefined;
    }
  }

  /** One bad key is no reason to drop the store, unless the probe fails as well. */
  async #ignoreKey(store: RedisClient, reason: string): Promise<void> {
    try {
      await within(DEADLINE_MS, probe(store));
      this.#warn(
        `the rate limit store cannot count a client, so it is counted in memory: ${reason}`,
      );
    } catch (error) {
      this.#drop(store, reasonOf(error));
    }
  }

  /** When many decisions fail at once, only the first one drops the store. */
  #drop(store: RedisClient, reason: string): void {
    if (store !== this.#store) return;
    this.#store = undefined;
    // Rejects all pending decisions, so that none of them waits for its own deadline.
    store.close();
    if (performance.now() - this.#upSinceMs > STEADY_MS) this.#retryMs = RETRY_MS;
    this.#goDown(reason);
  }

  #goDown(reason: string): void {
    if (this.#isClosed) return;
    if (!this.#isDownReported) this.#options.onDown(reason);
    this.#isDownReported = true;
    this.#retryTimer = setTimeout(() => this.connect(), this.#retryMs);
    this.#retryTimer.unref();
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
  }

  #warn(message: string): void {
    const now = performance.now();
    const warnedAtMs = this.#warnedAtMs.get(message) ?? Number.NEGATIVE_INFINITY;
    if (now - warnedAtMs < WARNING_INTERVAL_MS) return;
    this.#warnedAtMs.set(message, now);
    this.#options.onWarning(message);
  }
}

/**
 * Allows a request if both this process's memory and the store do. Memory decides first, so
 * `maxClients` bounds all searches of this instance, and a store that was late or lost its counts
 * gives no client more than the limit here. Requests that memory allows on its own are never sent
 * to the store later. The store is asked even if memory refuses, because its wait may be longer.
 *
 * @param ask resolves to undefined if the store makes no decision; never rejects
 */
export async function consumeBoth(
  memory: MemoryLimiter,
  client: string,
  ask: (isCounted: boolean) => Promise<Decision | undefined>,
): Promise<Decision> {
  const before = memory.peek(client);
  const shared = await ask(before.allowed);
  const isAllowed = before.allowed && shared?.allowed !== false;
  // Memory may refuse by now, because other requests of the client were waiting for the store too.
  const own = isAllowed ? memory.consume(client) : before;
  if (shared === undefined || own.remaining < shared.remaining) return own;
  if (shared.remaining < own.remaining) return shared;
  return { ...own, resetMs: Math.max(own.resetMs, shared.resetMs) };
}

/**
 * Whether `text` is a `redis://`, `valkey://` or (for TLS) `rediss://` URL, with an optional
 * `user:password@`, port and `/database`. A password has / as %2F, @ as %40, ? as %3F and # as %23.
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
