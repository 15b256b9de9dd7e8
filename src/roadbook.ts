/**
 * Roadbook as a library: one object that serves a snapshot, a dataset or the demo. The `serve`
 * command and other programs embed this object. It never reads the environment. By default, it logs
 * only bugs.
 */
import type { ChangeLine, DatasetLine, EndLine } from "./domain/dataset.ts";
import { checkStatus, createFaults, type Fault, parseFault } from "./faults.ts";
import { type App, createApp, type FetchHandler } from "./http/app.ts";
import type { DocsScript } from "./http/docs.ts";
import type { PageAssets, PageOptions, Pages } from "./http/pages.ts";
import type { SearchLimit } from "./http/rate-limit.ts";
import type { ResponseFacts } from "./http/request-context.ts";
import { createClients } from "./limit/client-address.ts";
import { createLimiter, type Limiter, type LimiterStatus } from "./limit/limiter.ts";
import {
  bounds,
  checkNames,
  parseBasePath,
  parseBaseUrl,
  parseCidr,
  parseColour,
  parseMaxAge,
  parseTime,
  parseTitle,
  parseUserId,
} from "./options.ts";
import { readLogo } from "./server/logo.ts";
import { createNodeListener, type NodeListener } from "./server/node-listener.ts";
import type { Meta } from "./snapshot/format/meta.ts";
import type { LineSource } from "./snapshot/import/read-dataset.ts";
import { openReloadableSnapshot, type Replacement } from "./snapshot/read/reloadable.ts";
import type { SourceStatus } from "./snapshot/remote/source.ts";
import { DEFAULT_TITLE } from "./web/brand.ts";
import { isLanguage, languages } from "./web/texts.ts";

/**
 * Most options have the same names and values as the flags of `serve`. Options that take a list
 * have plural names.
 */
export interface RoadbookOptions extends PageOptions {
  /** The path or bytes of a snapshot. Give exactly one of `snapshot`, `dataset` and `demo`. */
  snapshot?: string | Uint8Array | undefined;
  /** The path or bytes of a dataset file (NDJSON, plain, gzip or zstd), or its lines as objects. */
  dataset?: LineSource<DatasetLine | EndLine> | undefined;
  /** Serves the demo community that comes with Roadbook. */
  demo?: boolean | undefined;
  /** Where to copy a large snapshot file before it is served. Default `/var/tmp`. */
  cacheDir?: string | undefined;
  /** Returns the state of the snapshot's source, for /health. */
  snapshotSource?: (() => SourceStatus) | undefined;
  /** The base URL for avatar links and the API docs. Defaults to the origin of each request. */
  publicUrl?: string | undefined;
  /**
   * The path where another program mounts Roadbook, such as `/rb`. All links start with this path,
   * but requests may omit it. Defaults to the path of `publicUrl`, if that option is set.
   */
  basePath?: string | undefined;
  /** How many searches a client may make per window, or 0 for no limit. Default 30. */
  searchLimit?: number | undefined;
  /** The length of the search window, such as `1h`, `500ms` or `90` (seconds). Default `1h`. */
  searchWindow?: string | undefined;
  /** The search limit's clock, in milliseconds like `Date.now`. Meant for tests. */
  clock?: (() => number) | undefined;
  /** The client address for requests without one. By default, their searches are not counted. */
  defaultPeer?: string | undefined;
  /** How many clients to track. Further clients inherit an old client's count. Default 100,000. */
  maxClients?: number | undefined;
  /** Counts searches instead of the built-in limiter. The caller must close it. */
  limiter?: Limiter | undefined;
  /** The proxies (CIDRs) whose X-Forwarded-For, -Proto and -Host are trusted. Default none. */
  trustedProxies?: readonly string[] | undefined;
  /** IPv6 addresses that share a prefix of this length count as one client. Default 64. */
  ipv6Prefix?: number | undefined;
  /** How long caches may reuse a response without revalidating it, such as `5m`. Default `0`. */
  cacheMaxAge?: string | undefined;
  /**
   * Whether to compress responses. Set this to false if the host program compresses them, as
   * Next.js does. Default true.
   */
  compress?: boolean | undefined;
  /** Serves the web page at / and /drivers/{id}. Default false. */
  page?: boolean | undefined;
  /** The web page's script and style. Defaults to the files that come with Roadbook. */
  pageAssets?: () => Promise<PageAssets>;
  /** The script for the page at /docs, gzip-compressed. Defaults to the script in the package. */
  docsScript?: DocsScript;
  /**
   * Makes requests fail on purpose, like `--fault`: `search:status=503,rate=0.1`,
   * `profile:delay=200ms,jitter=50ms`, `*:close`. With `close`, `fetch` returns a response whose
   * body fails. `setFaults` requires this option, but the list may be empty.
   */
  faults?: readonly (string | Fault)[] | undefined;
  /** The seed for the faults. The same seed and requests give the same faults. Default 1. */
  faultSeed?: number | undefined;
  /**
   * Called with every error that causes a 500 response, and with every error that `onResponse`
   * throws. Defaults to `console.error`.
   */
  onBug?: (error: unknown, requestId: string) => void;
  /** Called with facts about every response. */
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
}

export interface ListenOptions {
  /** Defaults to 0, which picks a free port. */
  port?: number;
  /** Defaults to 127.0.0.1. */
  host?: string;
}

export interface Listening {
  /** The origin, such as http://127.0.0.1:3000, without a trailing slash. */
  url: string;
  /** Closes all connections immediately. */
  close(): Promise<void>;
}

export interface Roadbook extends AsyncDisposable {
  /**
   * Responds to a request. A runtime can use this function as its fetch handler. The second
   * argument provides the client's address, which is used to count searches. It can be the address,
   * a function that returns the address, or the argument that Bun, Deno or Hono passes. Without an
   * address, `defaultPeer` applies.
   */
  fetch: FetchHandler;
  /**
   * `fetch` as a listener for Node's `http.createServer`, and as middleware for Express. As
   * middleware, it passes requests for unknown paths on to the next handler.
   */
  listener: NodeListener;
  /**
   * The Elysia app, to mount in another app: `new Elysia().use(roadbook.app)`. Only
   * `roadbook/elysia` exports the app's type, because Elysia's types need `skipLibCheck`.
   */
  app: object;
  /** Starts serving HTTP. If the address cannot be used, rejects with an error that names it. */
  listen(options?: ListenOptions): Promise<Listening>;
  /**
   * Applies all changes or none. Each line replaces or deletes the record with the same id. Rejects
   * with a `DatasetError` if any line is invalid. Works only for a snapshot in memory, and only
   * before `close`. To change a snapshot file, call `applyChanges` and then `refresh`.
   */
  apply(changes: LineSource<ChangeLine | EndLine>): Promise<Meta>;
  /** Returns facts about the snapshot being served. `sha256` is the checksum of the file. */
  meta(): Meta & { sha256: string };
  /**
   * Checks whether the snapshot file has been replaced. If every byte of the new file is valid,
   * serves the new snapshot from then on. Resolves to the outcome, or to undefined if there is no
   * new file. A rejected file is tried again when it changes, or immediately if `isForced` is true.
   */
  refresh(isForced?: boolean): Promise<Replacement | undefined>;
  /**
   * Replaces the faults, starting with the next request, and restarts their random sequence. Throws
   * if a fault is invalid or if `createRoadbook` was called without `faults`.
   */
  setFaults(faults: readonly (string | Fault)[], seed?: number): void;
  /** Resets the search count of every client. Throws if `limiter` has no `reset` method. */
  resetLimit(): void;
  /** Returns the state of the search limit, or undefined if there is no limit. */
  limiterStatus(): LimiterStatus | undefined;
  /** Stops listening and closes the snapshot. From then on, `fetch` returns 503 `unavailable`. */
  close(): Promise<void>;
}

/**
 * Opens the data to serve. Rejects with a `SnapshotError` or `DatasetError` whose message is for
 * the operator, or with a `RangeError` or `TypeError` that names an invalid option.
 */
export async function createRoadbook(options: RoadbookOptions): Promise<Roadbook & { app: App }> {
  checkOptions(options);
  const { faultSeed = 1 } = options;
  let faults = options.faults && createFaults(checkFaults(options.faults), faultSeed);
  const searchLimit = createSearchLimit(options);
  const appOptions = await appOptionsOf(options);
  const reloadable = await openReloadableSnapshot(await findSnapshot(options), options.cacheDir);
  let isClosed = false;
  const { app, fetch } = createApp({
    ...appOptions,
    isClosed: () => isClosed,
    snapshot: reloadable.current,
    refused: reloadable.refused,
    searchLimit,
    // Elysia awaits a hook only if it is declared async.
    fault: faults && (async (context) => faults?.(context)),
  });
  const listening: Listening[] = [];

  function checkOpen(): void {
    if (isClosed) throw new Error("this Roadbook is closed; create another with createRoadbook");
  }

  async function close(): Promise<void> {
    isClosed = true;
    for (const each of listening) await each.close();
    reloadable.close();
  }

  return {
    app,
    fetch,
    listener: createNodeListener(fetch),
    async listen(options = {}) {
      checkNames(options, ["port", "host"]);
      checkOpen();
      const { port = 0, host = "127.0.0.1" } = options;
      const { openListener } = await import("./server/open.ts");
      const { origin, close } = await openListener({ host, port }, fetch);
      listening.push({ url: origin, close });
      return { url: origin, close };
    },
    async apply(changes) {
      checkOpen();
      return reloadable.change(async (snapshot) => {
        const { changeSnapshot } = await import("./snapshot/import/apply.ts");
        return changeSnapshot(snapshot, changes);
      });
    },
    meta() {
      const { meta, sha256 } = reloadable.current();
      return { ...meta, sha256 };
    },
    refresh: reloadable.refresh,
    setFaults(list, seed = faultSeed) {
      if (!faults) throw new Error("setFaults needs the option faults, which may be an empty list");
      faults = createFaults(checkFaults(list), seed);
    },
    resetLimit() {
      if (!searchLimit) return;
      if (!searchLimit.limiter.reset) throw new Error("this limiter cannot be reset");
      searchLimit.limiter.reset();
    },
    limiterStatus: () => searchLimit?.limiter.status(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The options for `createApp` that do not depend on an open snapshot. */
async function appOptionsOf(options: RoadbookOptions) {
  return {
    source: () => options.snapshotSource?.(),
    publicUrl: options.publicUrl?.replace(/\/+$/, ""),
    basePath: basePathOf(options),
    clients: createClients({
      trusted: options.trustedProxies ?? [],
      ipv6Prefix: options.ipv6Prefix ?? 64,
    }),
    cacheMaxAgeSeconds: explain("cacheMaxAge", options.cacheMaxAge ?? "0", parseMaxAge),
    compress: options.compress ?? true,
    page: await pageOf(options),
    docsScript: options.docsScript ?? (async () => (await import("./assets.ts")).docsScript()),
    onBug: options.onBug ?? ((error: unknown) => console.error(error)),
    onResponse: options.onResponse,
    defaultPeer: options.defaultPeer,
  };
}

/** Returns the snapshot's path or bytes. Imports the snapshot builder only if it is needed. */
async function findSnapshot({ snapshot, dataset, demo }: RoadbookOptions) {
  if (snapshot !== undefined) return snapshot;
  if (demo) return (await import("./assets.ts")).demoSnapshot();
  return (await import("./snapshot/import/import.ts")).buildSnapshot(dataset ?? []);
}

async function pageOf(options: RoadbookOptions): Promise<Pages | undefined> {
  const { page, kiosk, language, title = DEFAULT_TITLE, accent, logo, featured } = options;
  if (!page) return undefined;
  return {
    kiosk,
    allowIndexing: options.allowIndexing,
    language,
    featured,
    kioskIdleMs: parseTime(options.kioskIdle ?? "2m"),
    title: explain("title", title, parseTitle),
    accent: accent === undefined ? undefined : explain("accent", accent, parseColour),
    logo: logo === undefined ? undefined : await readLogo(logo),
    assets: await (options.pageAssets ?? (await import("./assets.ts")).pageAssets)(),
  };
}

function basePathOf({ basePath, publicUrl }: RoadbookOptions): string {
  if (basePath !== undefined) return explain("basePath", basePath, parseBasePath);
  return publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/\/+$/, "");
}

function createSearchLimit(options: RoadbookOptions): SearchLimit | undefined {
  const { searchLimit: limit = 30, searchWindow = "1h", maxClients, clock, limiter } = options;
  const windowMs = explain("searchWindow", searchWindow, parseTime);
  if (limit === 0) return undefined;
  return {
    windowMs,
    clock: clock ?? Date.now,
    limiter: limiter ?? createLimiter({ limit, windowMs, maxClients, clock }),
  };
}

const kinds = {
  "true or false": (value: unknown) => typeof value === "boolean",
  "a number": (value: unknown) => typeof value === "number",
  "a string": (value: unknown) => typeof value === "string",
  "an array": Array.isArray,
  "a function": (value: unknown) => typeof value === "function",
  "a limiter": (value: unknown) => typeof value === "object" && value !== null,
  "a path or bytes": isPathOrObject,
  "a path, lines or bytes": isPathOrObject,
};

function isPathOrObject(value: unknown): boolean {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/** The kind of value that each option must have. */
const optionKinds: Record<keyof RoadbookOptions, keyof typeof kinds> = {
  snapshot: "a path or bytes",
  dataset: "a path, lines or bytes",
  demo: "true or false",
  cacheDir: "a string",
  snapshotSource: "a function",
  publicUrl: "a string",
  basePath: "a string",
  searchLimit: "a number",
  searchWindow: "a string",
  clock: "a function",
  defaultPeer: "a string",
  maxClients: "a number",
  limiter: "a limiter",
  trustedProxies: "an array",
  ipv6Prefix: "a number",
  cacheMaxAge: "a string",
  compress: "true or false",
  page: "true or false",
  title: "a string",
  accent: "a string",
  logo: "a path or bytes",
  kiosk: "true or false",
  kioskIdle: "a string",
  allowIndexing: "true or false",
  language: "a string",
  featured: "an array",
  pageAssets: "a function",
  docsScript: "a function",
  faults: "an array",
  faultSeed: "a number",
  onBug: "a function",
  onResponse: "a function",
};

function checkOptions(options: RoadbookOptions): void {
  checkNames(options, Object.keys(optionKinds));
  for (const [name, value] of Object.entries(options)) {
    const kind = optionKinds[name as keyof RoadbookOptions];
    if (value === undefined || kinds[kind](value)) continue;
    const got = typeof value === "object" ? "an object" : `a ${typeof value}`;
    throw new TypeError(`${name} must be ${kind}, got ${got}`);
  }
  for (const [name, [min, max]] of Object.entries(bounds)) {
    const value = options[name as keyof typeof bounds] ?? min;
    if (Number.isInteger(value) && value >= min && value <= max) continue;
    throw new RangeError(`${name} must be a whole number from ${min} to ${max}, got ${value}`);
  }
  const { snapshot, dataset, demo, publicUrl, kioskIdle, language } = options;
  const { trustedProxies = [], featured = [] } = options;
  if ([snapshot, dataset, demo || undefined].filter((each) => each !== undefined).length !== 1) {
    throw new TypeError("give exactly one of snapshot, dataset and demo");
  }
  if (publicUrl !== undefined) explain("publicUrl", publicUrl, parseBaseUrl);
  if (kioskIdle !== undefined) explain("kioskIdle", kioskIdle, parseTime);
  if (language !== undefined && !isLanguage(language)) {
    throw new RangeError(
      `language must be one of ${Object.keys(languages)}, got ${JSON.stringify(language)}`,
    );
  }
  for (const cidr of trustedProxies) explain("trustedProxies", cidr, parseCidr);
  for (const id of featured) explain("featured", String(id), parseUserId);
}

function checkFaults(faults: readonly (string | Fault)[]): Fault[] {
  return faults.map((fault) => {
    if (typeof fault === "string") return explain("faults", fault, parseFault);
    explain("faults", `${fault.target}:status=${fault.status}`, () => checkStatus(fault));
    return fault;
  });
}

/** Runs `parse`. If parsing fails, the error names the option. */
function explain<T>(option: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new RangeError(`${option} ${problem}, got ${JSON.stringify(text)}`);
  }
}
