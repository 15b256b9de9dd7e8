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

/** Looks for a new snapshot regularly, and switches to it. Asks for a remote one every `fetchEveryMs`. */
export function watchSnapshot(
  { roadbook, remote, metrics }: Watched,
  fetchEveryMs: number,
  log: Logger,
) {
  let lookTimer: NodeJS.Timeout | undefined;
  let fetchTimer: NodeJS.Timeout | undefined;
  /** How long the next retry of a refused file waits, and when it is due. */
  let retry: { waitMs: number; atMs: number } | undefined;
  let isOver = false;

  const retryAfter = (waitMs: number) => {
    retry = { waitMs, atMs: performance.now() + waitMs };
  };

  function report(replacement: Replacement): void {
    metrics?.countReplacement("meta" in replacement ? "swapped" : "refused");
    if ("meta" in replacement) {
      const { built_at: builtAt, counts } = replacement.meta;
      log.info({ builtAt, counts }, "serving a new snapshot");
      retry = undefined;
    } else {
      log.error(`${replacement.refused.message}; serving the old snapshot`);
      retryAfter(RETRY_MS);
    }
  }

  /** Never rejects. */
  async function look(isForced: boolean): Promise<void> {
    try {
      const isRetry = retry !== undefined && performance.now() >= retry.atMs;
      // Plans the next retry, in case this one fails.
      if (isRetry) retryAfter(Math.min(2 * Number(retry?.waitMs), MAX_RETRY_MS));
      const replacement = await roadbook.refresh(isForced || isRetry);
      if (replacement) report(replacement);
    } catch (error) {
      log.error({ err: error }, "bug");
    }
  }

  /** One look after the other, because on a hung network drive a look does not end. */
  function lookLater(): void {
    if (isOver) return;
    lookTimer = setTimeout(() => look(false).then(lookLater), REFRESH_MS);
  }

  /** A refused snapshot may be downloaded as a whole each time, so it is requested ever more rarely. */
  function fetchLater(everyMs: number): void {
    if (!remote || isOver) return;
    // Servers that were started together must not send their requests at the same time.
    const waitMs = everyMs * (1 - Math.random() / 5);
    fetchTimer = setTimeout(async () => {
      await remote.refresh();
      const retryMs = Math.max(Math.min(2 * everyMs, MAX_RETRY_MS), fetchEveryMs);
      fetchLater(remote.refused() === undefined ? fetchEveryMs : retryMs);
    }, waitMs);
  }

  lookLater();
  fetchLater(fetchEveryMs);
  return {
    /** Looks now, even for a snapshot that was refused. Never rejects. */
    async reload(): Promise<void> {
      if (!isOver) await Promise.all([remote?.refresh(true), look(true)]);
    },
    [Symbol.dispose](): void {
      isOver = true;
      clearTimeout(lookTimer);
      clearTimeout(fetchTimer);
    },
  };
}
