/**
 * Owns what the HTTP layer asks for a decision, whichever store counts, and the limiter that counts
 * in this process. Never imports what only Bun has: `redis.ts` is for those who open a shared one.
 */
import { createWindow, type Decision, type WindowOptions } from "./window.ts";

export interface Limiter {
  /** Decides one request of `client` and counts it if allowed. Never throws, never rejects. */
  consume(client: string): Decision | Promise<Decision>;
  status(): LimiterStatus;
  /** Lets go of connections and timers. Decisions go on, in memory. */
  close(): void;
}

export interface LimiterStatus {
  store: "memory" | "redis";
  /** False while a shared store is out of reach and memory decides. */
  up: boolean;
  /** Clients held in this process's memory. */
  clients: number;
}

export interface LimiterOptions extends Omit<WindowOptions, "maxClients"> {
  maxClients?: number | undefined;
  /** Monotonic milliseconds. */
  clock?: (() => number) | undefined;
}

export const DEFAULT_MAX_CLIENTS = 100_000;

/** A limiter in memory: its decisions are there at once. */
export interface MemoryLimiter extends Limiter {
  consume(client: string): Decision;
}

export function createLimiter(options: LimiterOptions): MemoryLimiter {
  const {
    limit,
    windowMs,
    maxClients = DEFAULT_MAX_CLIENTS,
    clock = () => performance.now(),
  } = options;
  const window = createWindow({ limit, windowMs, maxClients });
  return {
    consume: (client) => window.consume(client, clock()),
    status: () => ({ store: "memory", up: true, clients: window.size }),
    close() {},
  };
}
