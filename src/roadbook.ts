/**
 * Roadbook as a library: one object that answers requests from a snapshot or a dataset. The command
 * serves it; test rigs and kiosks embed it. Nothing here listens, logs or reads the environment.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readFileBytes } from "./files/lines.ts";
import { createFetch, type Fetch, type ResponseFacts } from "./http/app.ts";
import type { DocsScript } from "./http/docs.ts";
import type { PageAssets, PageOptions } from "./http/pages.ts";
import type { SearchLimit } from "./http/rate-limit.ts";
import { createClients } from "./limit/client.ts";
import { createLimiter, type Limiter, type LimiterStatus } from "./limit/limiter.ts";
import type { Meta } from "./snapshot/format/meta.ts";
import { openReloadableSnapshot, type Replacement } from "./snapshot/read/reloadable.ts";
import type { SourceStatus } from "./snapshot/remote/source.ts";

export interface RoadbookOptions {
  /** A snapshot: the path of its file, or its bytes. Either this or `dataset`. */
  snapshot?: string | Uint8Array;
  /** A dataset: the path of its file (NDJSON, plain, gzip or zstd), or its lines as objects. */
  dataset?: string | Iterable<object>;
  /** Does without the checksum of the snapshot at the start; what replaces it is verified all the same. */
  trustSnapshot?: boolean;
  /** Where the file of the snapshot is fetched from, and how that went; /health shows it. */
  snapshotSource?: (() => SourceStatus) | undefined;
  /** The base URL that completes avatar paths; without one, the origin of each request. */
  publicUrl?: string | undefined;
  /** Searches of one client in a window; 0 for no limit. Default 30. */
  searchLimit?: number;
  /** The length of the window in milliseconds. Default one hour. */
  searchWindowMs?: number;
  /** Clients that are told apart at most; see `createWindow` for what happens past that. */
  maxClients?: number;
  /** Counts the searches instead of this process's memory. The caller closes it. */
  limiter?: Limiter | undefined;
  /** The proxies, as CIDRs, whose X-Forwarded-For says who the client is. Default none. */
  trustedProxies?: string[];
  /** IPv6 clients are one by so many leading bits. Default 64. */
  ipv6Prefix?: number;
  /** How long a cache may use a response without asking again. Default 0. */
  cacheMaxAgeSeconds?: number;
  /** The page for people at / and /drivers/{id}; needs `pageAssets`. Default none. */
  page?: PageOptions | undefined;
  /** The script and the style of that page. */
  pageAssets?: () => Promise<PageAssets>;
  /** The script of the page at /docs, gzip-compressed. */
  docsScript?: DocsScript;
  /** Gets every bug that became a 500. */
  onBug?: (error: unknown, requestId: string) => void;
  /** Gets the facts of every response. */
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
}

export interface Roadbook {
  /** Responds to a request; `peer` is, or finds, the address it came from, which searches are counted by. */
  fetch: Fetch;
  /** The facts of the snapshot that is served. */
  meta(): Meta;
  /**
   * Looks whether the file of the snapshot has been replaced, and answers from the new one from then
   * on if it is good, every byte of it. Resolves to what came of it, or to undefined when there is
   * nothing new. A file that was refused is tried again when it changes, or with `isForced` at once.
   */
  refresh(isForced?: boolean): Promise<Replacement | undefined>;
  /** How searches are counted; undefined without a limit. */
  limiterStatus(): LimiterStatus | undefined;
  close(): void;
}

/**
 * Opens what to answer from. Rejects with a `SnapshotError` or a `DatasetError` whose message is for
 * the operator.
 */
export async function createRoadbook(options: RoadbookOptions): Promise<Roadbook> {
  const reloadable = await openReloadableSnapshot(
    options.snapshot ?? (await buildSnapshot(options.dataset ?? [])),
    { trust: options.trustSnapshot ?? false },
  );
  const searchLimit = createSearchLimit(options);
  const fetch = createFetch({
    snapshot: reloadable.current,
    refused: reloadable.refused,
    source: () => options.snapshotSource?.(),
    publicUrl: options.publicUrl?.replace(/\/+$/, ""),
    searchLimit,
    clients: createClients({
      trusted: options.trustedProxies ?? [],
      ipv6Prefix: options.ipv6Prefix ?? 64,
    }),
    cacheMaxAgeSeconds: options.cacheMaxAgeSeconds ?? 0,
    page: options.pageAssets && options.page,
    pageAssets: options.pageAssets ?? (() => Promise.reject(new Error("no pageAssets"))),
    docsScript: options.docsScript ?? (() => gzipSync("")),
    onBug: options.onBug ?? ((error) => console.error(error)),
    onResponse: options.onResponse,
  });
  return {
    fetch,
    meta: () => reloadable.current().meta,
    refresh: reloadable.refresh,
    limiterStatus: () => searchLimit?.limiter.status(),
    close: reloadable.close,
  };
}

function createSearchLimit(options: RoadbookOptions): SearchLimit | undefined {
  const { searchLimit: limit = 30, searchWindowMs: windowMs = 3_600_000, maxClients } = options;
  if (limit === 0) return undefined;
  return {
    windowMs,
    limiter:
      options.limiter ?? createLimiter({ limit, windowMs, ...(maxClients && { maxClients }) }),
  };
}

/** The bytes of a snapshot made of a dataset, by way of a file that is gone afterwards. */
export async function buildSnapshot(dataset: string | Iterable<object>): Promise<Uint8Array> {
  // Loaded here alone: a server of a finished snapshot starts 7 ms sooner without it.
  const { importDataset } = await import("./snapshot/build/import.ts");
  const folder = mkdtempSync(join(tmpdir(), "roadbook-"));
  try {
    const path = join(folder, "snapshot");
    await importDataset(
      typeof dataset === "string" ? readFileBytes(dataset) : linesOf(dataset),
      path,
      { allowEmpty: true },
    );
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function* linesOf(objects: Iterable<object>): AsyncGenerator<Uint8Array> {
  for (const object of objects) yield Buffer.from(`${JSON.stringify(object)}\n`);
}
