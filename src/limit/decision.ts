/** The decisions about searches, and what makes them: the limiter in memory or the shared one. */
import type { Place } from "./client-table.ts";

export interface Decision {
  allowed: boolean;
  /** How many more requests are allowed right now. */
  remaining: number;
  /** Whole milliseconds until the oldest counted request leaves the window: exactly long enough. */
  resetMs: number;
}

/** How often a client may search. */
export interface LimitPolicy {
  /** How many requests a client may make in any `windowMs`; at least 1. */
  limit: number;
  windowMs: number;
}

/** Disposing of it disconnects from the store, if there is one. */
export interface Limiter extends Disposable {
  readonly policy: LimitPolicy;
  /** Counts a request if it is allowed. Never throws or rejects. */
  consume(client: Place): Decision | Promise<Decision>;
  /** The same for a page of a company, of which each process counts its own. */
  consumeCompanyPage(client: Place): Decision;
  status(): LimiterStatus;
  /** Forgets all requests. Throws if they are in a shared store. */
  reset(): void;
}

export interface LimiterStatus {
  store: "memory" | "redis";
  /** False while the shared store is unavailable and decisions are made in memory. */
  up: boolean;
  /** The number of clients tracked in memory, including a few whose requests have expired. */
  clients: number;
  maxClients: number;
}

export interface LimiterOptions extends LimitPolicy {
  /** How many clients have a place in memory. */
  maxClients: number;
  /** Returns the time in milliseconds. Defaults to a monotonic clock. */
  clock?: (() => number) | undefined;
}
