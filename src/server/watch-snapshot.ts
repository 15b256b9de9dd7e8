/**
 * Looks for new snapshots while the server runs. This decides when; `snapshot/read/reload.ts`
 * compares the files and switches.
 */
import type { Logger } from "pino";
import type { Replacement } from "../snapshot/read/reload.ts";
import type { RemoteSnapshot } from "../snapshot/remote/remote-snapshot.ts";
import type { Metrics } from "./metrics.ts";

/** How often to look for a new snapshot file. */
const REFRESH_MS = 200;
/** When to retry a refused file. Each further retry waits twice as long. */
const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

interface Watched {
  roadbook: { refresh(isForced: boolean): Promise<Replacement | undefined> };
  /** Undefined for a local file. */
  remote: Pick<RemoteSnapshot, "refresh" | "refused"> | undefined;
  metrics: Pick<Metrics, "countReplacement"> | undefined;
}

/** Looks for a new snapshot regularly, and switches to it. */
export class SnapshotWatcher implements Disposable {
  readonly #watched: Watched;
  /** How often to ask for a remote snapshot. */
  readonly #fetchEveryMs: number;
  readonly #log: Logger;
  #lookTimer: NodeJS.Timeout | undefined;
  #fetchTimer: NodeJS.Timeout | undefined;
  /** How long the next retry of a refused file waits, and when it is due. */
  #retry: { waitMs: number; atMs: number } | undefined;
  #isDisposed = false;

  constructor(watched: Watched, fetchEveryMs: number, log: Logger) {
    this.#watched = watched;
    this.#fetchEveryMs = fetchEveryMs;
    this.#log = log;
    this.#lookLater();
    this.#fetchLater();
  }

  /** Looks now, even for a snapshot that was refused. Never rejects. */
  async reload(): Promise<void> {
    if (this.#isDisposed) return;
    await Promise.all([this.#watched.remote?.refresh(true), this.#look(true)]);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#lookTimer);
    clearTimeout(this.#fetchTimer);
  }

  /** One look after the other, because on a hung network drive a look does not end. */
  #lookLater(): void {
    if (this.#isDisposed) return;
    this.#lookTimer = setTimeout(async () => {
      await this.#look(false);
      this.#lookLater();
    }, REFRESH_MS);
  }

  /** A refused snapshot may be downloaded as a whole each time, so it is requested ever more rarely. */
  #fetchLater(everyMs = this.#fetchEveryMs): void {
    const { remote } = this.#watched;
    if (!remote || this.#isDisposed) return;
    // Servers that were started together must not send their requests at the same time.
    const waitMs = everyMs * (1 - Math.random() / 5);
    this.#fetchTimer = setTimeout(async () => {
      await remote.refresh();
      const isRefused = remote.refused() !== undefined;
      const retryMs = Math.max(Math.min(2 * everyMs, MAX_RETRY_MS), this.#fetchEveryMs);
      this.#fetchLater(isRefused ? retryMs : this.#fetchEveryMs);
    }, waitMs);
  }

  /** Never rejects. */
  async #look(isForced: boolean): Promise<void> {
    try {
      const isRetry = this.#takeRetry();
      const replacement = await this.#watched.roadbook.refresh(isForced || isRetry);
      if (replacement) this.#report(replacement);
    } catch (error) {
      this.#log.error({ err: error }, "bug");
    }
  }

  #report(replacement: Replacement): void {
    const { metrics } = this.#watched;
    metrics?.countReplacement("meta" in replacement ? "swapped" : "refused");
    if ("meta" in replacement) {
      const { built_at: builtAt, counts } = replacement.meta;
      this.#log.info({ builtAt, counts }, "serving a new snapshot");
      this.#retry = undefined;
    } else {
      this.#log.error(`${replacement.refused.message}; serving the old snapshot`);
      this.#retryAfter(RETRY_MS);
    }
  }

  /** Whether a retry is due. If so, plans the next one, in case this one fails. */
  #takeRetry(): boolean {
    const retry = this.#retry;
    if (!retry || performance.now() < retry.atMs) return false;
    this.#retryAfter(Math.min(2 * retry.waitMs, MAX_RETRY_MS));
    return true;
  }

  #retryAfter(waitMs: number): void {
    this.#retry = { waitMs, atMs: performance.now() + waitMs };
  }
}
