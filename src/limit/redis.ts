/**
 * The search limit that several instances share through one store, a Redis or Valkey server. While
 * the store is unavailable, decisions are made in memory, without waiting. Never logs.
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
} from "./redis-script.ts";

export interface SharedLimiterOptions extends LimiterOptions {
  /** Must satisfy {@link isStoreUrl}. */
  url: string;
  /** Called when the store becomes unavailable, so decisions are made in memory from then on. */
  onDown: (reason: string) => void;
  /** Called when the store becomes available, for the first time or again. */
  onUp: () => void;
  /**
   * Called when the store works, but less reliably than it should. The same message is passed at
   * most once a minute.
   */
  onWarning: (message: string) => void;
}

/** If the store takes longer than this to decide, the decision is made in memory. */
const DEADLINE_MS = 50;
const CONNECT_MS = 1000;

/**
 * The delay before the first attempt to reconnect. The delay doubles after each failure, up to
 * MAX_RETRY_MS.
 */
const RETRY_MS = 100;
const MAX_RETRY_MS = 5000;

/** If the store was up for longer than this, the delay starts at RETRY_MS again. */
const STEADY_MS = 60_000;

const WARNING_INTERVAL_MS = 60_000;

/**
 * Opens a limiter that shares one budget per client among all instances with the same URL, limit
 * and window. If the store does not respond within about a second, the limiter starts in memory.
 * See {@link consumeBoth} for how decisions are made.
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

  /**
   * Each attempt opens a new connection, because a connection that hangs may never report an error.
   */
  async connect(): Promise<void> {
    const candidate = new RedisClient(this.#options.url, {
      autoReconnect: false,
      // Much longer than CONNECT_MS, because this timer keeps running while the process is busy.
      // `within` decides whether the store is up.
      connectionTimeout: 10 * CONNECT_MS,
    });
    candidate.onclose = () => this.#drop(candidate, "the connection was closed");
    let evictionPolicy: string | undefined;
    try {
      // The first probe checks that this user may write. It is sent before the connection is open,
      // because if the password is wrong, only commands sent that early are rejected. The second
      // probe checks the latency.
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

  /** Returns the store's decision, or undefined if the store makes no decision. */
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

  /** Keeps the store in use despite an unusable key, unless a probe fails as well. */
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

  /**
   * Stops using the store. If many decisions fail at once, only the first failure has an effect.
   */
  #drop(store: RedisClient, reason: string): void {
    if (store !== this.#store) return;
    this.#store = undefined;
    // Closing rejects all pending decisions, so that none of them waits for its own deadline.
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
 * Allows a request if both this process's memory and the store allow it. Memory decides first, so
 * `maxClients` bounds the searches of all clients of this instance, and no client gets more than
 * the limit here even if the store is late or has lost its counts. Requests that were counted only
 * in memory are never sent to the store later. The store is asked even if memory refuses, because
 * the store's wait may be longer.
 *
 * @param ask asks the store; resolves to undefined if the store makes no decision, and never
 * rejects
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

/**
 * Whether `text` is a `redis://`, `valkey://` or (for TLS) `rediss://` URL, with an optional
 * `user:password@`, port and `/database`. In a password, `/`, `@`, `?` and `#` are percent-encoded.
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
