/**
 * Looks for new snapshots while the server runs. This decides when; `snapshot/read/reload.ts`
 * compares the files and switches.
 */
import type { Logger } from "pino";
import type { Metrics } from "../http/metrics.ts";
import type { Replacement } from "../snapshot/read/reload.ts";
import type { Source } from "../snapshot/remote/source.ts";

/** How often to look for a new snapshot file. */
const REFRESH_MS = 200;
/** When to retry a refused file. Each further retry waits twice as long. */
const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

interface Watched {
  roadbook: { refresh(isForced: boolean): Promise<Replacement | undefined> };
  metrics: Metrics | undefined;
  source: Source | undefined;
}

/** Looks for a new snapshot regularly and on SIGHUP, and switches to it. */
export function watchSnapshot(watched: Watched, fetchEveryMs: number, log: Logger): void {
  const { source } = watched;
  const watcher = new SnapshotWatcher(watched, log);
  setInterval(() => watcher.refresh(false), REFRESH_MS);
  process.on("SIGHUP", () => Promise.all([source?.refresh(), watcher.refresh(true)]));
  void source?.poll(fetchEveryMs);
}

class SnapshotWatcher {
  readonly #watched: Watched;
  readonly #log: Logger;
  /** How long the next retry of a refused file waits, and when it is due. */
  #waitMs = RETRY_MS;
  #retryAtMs = 0;

  constructor(watched: Watched, log: Logger) {
    this.#watched = watched;
    this.#log = log;
  }

  /** Never rejects. */
  async refresh(isForced: boolean): Promise<void> {
    try {
      const isRetry = performance.now() >= this.#retryAtMs;
      if (isRetry) this.#retryAfter(2 * this.#waitMs);
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
    } else {
      this.#log.error(`${replacement.refused.message}; serving the old snapshot`);
      this.#retryAfter(RETRY_MS);
    }
  }

  #retryAfter(ms: number): void {
    this.#waitMs = Math.min(ms, MAX_RETRY_MS);
    this.#retryAtMs = performance.now() + this.#waitMs;
  }
}
