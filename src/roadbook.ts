/**
 * Roadbook as a library: one object that responds from a snapshot, a dataset or the demo. The
 * command `serve` and other programs embed it. It never logs or reads the environment.
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
import type { LineSource } from "./snapshot/build/read-dataset.ts";
import type { Meta } from "./snapshot/format/meta.ts";
import { openReloadableSnapshot, type Replacement } from "./snapshot/read/reloadable.ts";
import type { SourceStatus } from "./snapshot/remote/source.ts";
import { DEFAULT_TITLE } from "./web/brand.ts";
import { isLanguage, languages } from "./web/texts.ts";

/** Most options have the names and values of the flags of `serve`. Lists are in the plural. */
export interface RoadbookOptions extends PageOptions {
  /** A snapshot, as a path or as bytes. Give exactly one of this, `dataset` and `demo`. */
  snapshot?: string | Uint8Array | undefined;
  /** A dataset, as the path or the bytes of a file (NDJSON, plain, gzip or zstd), or as objects. */
  dataset?: LineSource<DatasetLine | EndLine> | undefined;
  /** Serves the community that comes with Roadbook. */
  demo?: boolean | undefined;
  /** Opens the first snapshot without verifying its checksum. Later ones are verified. */
  trustSnapshot?: boolean | undefined;
  /** The state of the source that the snapshot is fetched from, for /health. */
  snapshotSource?: (() => SourceStatus) | undefined;
  /** The base URL for avatar links and the API docs. Default: the origin of each request. */
  publicUrl?: string | undefined;
  /**
   * The path under which another program mounts this one, such as `/rb`. All links start with it;
   * requests may or may not. Default: the path of `publicUrl`, or none.
   */
  basePath?: string | undefined;
  /** How many searches a client may make per window; 0 for no limit. Default 30. */
  searchLimit?: number | undefined;
  /** The length of the window, such as `1h`, `500ms`, or `90` (seconds). Default `1h`. */
  searchWindow?: string | undefined;
  /** The clock of the search limit, in milliseconds as of `Date.now`. For tests. */
  clock?: (() => number) | undefined;
  /** The address of requests that come without one. By default, their searches are not counted. */
  defaultPeer?: string | undefined;
  /** How many clients to track before new ones inherit an old one's count. Default 100,000. */
  maxClients?: number | undefined;
  /** Counts the searches in place of the built-in limiter. The caller closes it. */
  limiter?: Limiter | undefined;
  /** The proxies, as CIDRs, whose X-Forwarded-For, -Proto and -Host are trusted. Default none. */
  trustedProxies?: readonly string[] | undefined;
  /** The prefix length by which IPv6 clients are counted. Default 64. */
  ipv6Prefix?: number | undefined;
  /** How long caches may reuse a response without revalidating it, such as `5m`. Default `0`. */
  cacheMaxAge?: string | undefined;
  /**
   * Compresses responses. Set it to false where the host does so, as Next.js does. Default true.
   */
  compress?: boolean | undefined;
  /** Serves the page for people at / and /drivers/{id}. Default false. */
  page?: boolean | undefined;
  /** The scripts and the style of that page. Default: those that come with Roadbook. */
  pageAssets?: () => Promise<PageAssets>;
  /** The script of the page at /docs, gzip-compressed. Default: the script in the package. */
  docsScript?: DocsScript;
  /**
   * Makes requests fail on purpose, as `--fault` does: `search:status=503,rate=0.1`,
   * `profile:delay=200ms,jitter=50ms`, `*:close`. For `close`, `fetch` returns a response whose
   * body fails. `setFaults` requires this option, which may be an empty list.
   */
  faults?: readonly (string | Fault)[] | undefined;
  /** The same seed and the same requests give the same faults. Default 1. */
  faultSeed?: number | undefined;
  /** Called with every bug that became a 500, and with every error of `onResponse`. */
  onBug?: (error: unknown, requestId: string) => void;
  /** Called with the facts of every response. */
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
}

export interface ListenOptions {
  /** Default 0, which picks a free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
}

export interface Listening {
  /** Such as http://127.0.0.1:3000, without a trailing slash. */
  url: string;
  /** Closes all connections at once. */
  close(): Promise<void>;
}

export interface Roadbook extends AsyncDisposable {
  /**
   * Responds to a request. A runtime can use it as its fetch handler. The second argument gives the
   * client's address, by which searches are counted. It is the address, a function that returns it,
   * or the argument that Bun, Deno or Hono passes. Without an address, see `defaultPeer`.
   */
  fetch: FetchHandler;
  /**
   * The same as a listener for Node's `http.createServer` and as middleware for Express, which gets
   * requests for unknown paths back.
   */
  listener: NodeListener;
  /**
   * The Elysia app, for mounting in another: `new Elysia().use(roadbook.app)`. Its type is exported
   * from `roadbook/elysia` only, as Elysia's types need `skipLibCheck`.
   */
  app: object;
  /** Serves HTTP on an address. Rejects with an error that names the address. */
  listen(options?: ListenOptions): Promise<Listening>;
  /**
   * Applies all changes or none. Each line replaces or deletes the record with its id. Rejects with
   * a `DatasetError` if lines are invalid. This works only for a snapshot in memory. For a file,
   * use `applyChanges` and then `refresh`. Rejects after `close`.
   */
  apply(changes: LineSource<ChangeLine | EndLine>): Promise<Meta>;
  /** Facts about the snapshot being served. */
  meta(): Meta;
  /**
   * Checks whether the snapshot's file has been replaced. If every byte of the new file is valid,
   * it is served from then on. Resolves to the outcome, or to undefined if there is no new file. A
   * refused file is tried again when it changes, or at once with `isForced`.
   */
  refresh(isForced?: boolean): Promise<Replacement | undefined>;
  /**
   * Replaces the faults from the next request on and restarts their random sequence. Throws for an
   * invalid fault, and if `createRoadbook` was called without `faults`.
   */
  setFaults(faults: readonly (string | Fault)[], seed?: number): void;
  /** Gives every client its full search limit again. Throws if the `limiter` has no `reset`. */
  resetLimit(): void;
  /** The state of the search limit; undefined without a limit. */
  limiterStatus(): LimiterStatus | undefined;
  /** Stops listening and closes the snapshot. `fetch` then responds with 503 `unavailable`. */
  close(): Promise<void>;
}

/**
 * Opens the data to serve. Rejects with a `SnapshotError` or a `DatasetError` whose message is for
 * the operator, or with a `RangeError` or a `TypeError` that names an invalid option.
 */
export async function createRoadbook(options: RoadbookOptions): Promise<Roadbook & { app: App }> {
  checkOptions(options);
  const { faultSeed = 1 } = options;
  let faults = options.faults && createFaults(checkFaults(options.faults), faultSeed);
  const searchLimit = createSearchLimit(options);
  const appOptions = await appOptionsOf(options);
  // The demo was verified when it was built.
  const trust = options.trustSnapshot || options.demo || false;
  const reloadable = await openReloadableSnapshot(await findSnapshot(options), { trust });
  let isClosed = false;
  const { app, fetch } = createApp({
    ...appOptions,
    isClosed: () => isClosed,
    snapshot: reloadable.current,
    refused: reloadable.refused,
    searchLimit,
    // Elysia awaits only hooks that are declared async.
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
        const { changeSnapshot } = await import("./snapshot/build/in-memory.ts");
        return changeSnapshot(snapshot, changes);
      });
    },
    meta: () => reloadable.current().meta,
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

/** The options of the app that need no open snapshot. */
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
    pageAssets: options.pageAssets ?? (async () => (await import("./assets.ts")).pageAssets()),
    docsScript: options.docsScript ?? (async () => (await import("./assets.ts")).docsScript()),
    onBug: options.onBug ?? ((error: unknown) => console.error(error)),
    onResponse: options.onResponse,
    defaultPeer: options.defaultPeer,
  };
}

/** The path or the bytes of the snapshot. Loads the code that builds one only if it is needed. */
async function findSnapshot({ snapshot, dataset, demo }: RoadbookOptions) {
  if (snapshot !== undefined) return snapshot;
  if (demo) return (await import("./assets.ts")).demoSnapshot();
  return (await import("./snapshot/build/in-memory.ts")).buildSnapshot(dataset ?? []);
}

async function pageOf(options: RoadbookOptions): Promise<Pages | undefined> {
  const { page, kiosk, language, title = DEFAULT_TITLE, accent, logo, featured } = options;
  if (!page) return undefined;
  return {
    kiosk,
    allowIndexing: options.allowIndexing ?? options.index,
    language,
    featured,
    kioskIdleMs: parseTime(options.kioskIdle ?? "2m"),
    title: explain("title", title, parseTitle),
    accent: accent === undefined ? undefined : explain("accent", accent, parseColour),
    logo: logo === undefined ? undefined : await readLogo(logo),
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

/** Every option and the kind of its value. */
const optionKinds: Record<keyof RoadbookOptions, keyof typeof kinds> = {
  snapshot: "a path or bytes",
  dataset: "a path, lines or bytes",
  demo: "true or false",
  trustSnapshot: "true or false",
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
  index: "true or false",
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
  if (options.allowIndexing !== undefined && options.index !== undefined) {
    throw new TypeError("index is the old name of allowIndexing; use only allowIndexing");
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

/** Names the option in the error of a parser. */
function explain<T>(option: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new RangeError(`${option} ${problem}, got ${JSON.stringify(text)}`);
  }
}
