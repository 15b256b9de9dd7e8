/**
 * Roadbook as a library: one object that responds from a snapshot, a dataset or the demo. The
 * command serves it; test rigs and kiosks embed it. Nothing here logs or reads the environment.
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

/** Most have the names and values of the flags of `serve`; lists are in the plural. */
export interface RoadbookOptions extends PageOptions {
  /** A snapshot: the path of its file, or its bytes. Either this, `dataset` or `demo`. */
  snapshot?: string | Uint8Array | undefined;
  /** A dataset: the path of its file (NDJSON, plain, gzip or zstd), its lines as objects, or its bytes. */
  dataset?: LineSource<DatasetLine | EndLine> | undefined;
  /** The community that comes with Roadbook. */
  demo?: boolean | undefined;
  /** Opens the first snapshot without comparing its checksum; later ones are verified. */
  trustSnapshot?: boolean | undefined;
  /** Where the file of the snapshot is fetched from, and how that went; /health shows it. */
  snapshotSource?: (() => SourceStatus) | undefined;
  /** The base URL for avatar links and the API docs; without one, the origin of each request. */
  publicUrl?: string | undefined;
  /**
   * The path under which another program has mounted this one, such as `/rb`: links begin with it, and
   * requests may or may not. Default the path of `publicUrl`, or none.
   */
  basePath?: string | undefined;
  /** Searches of one client in a window; 0 for no limit. Default 30. */
  searchLimit?: number | undefined;
  /** The length of the window, such as `1h`, `2s` or `500ms`; without a unit, seconds. Default `1h`. */
  searchWindow?: string | undefined;
  /** Milliseconds as of `Date.now`, for the limit: a test sets it. Default a clock that nobody sets. */
  clock?: (() => number) | undefined;
  /** The peer of requests for which `fetch` gets none. Default none: their searches do not count. */
  defaultPeer?: string | undefined;
  /** How many clients to track; a new one then inherits the least recently seen one's count. Default 100,000. */
  maxClients?: number | undefined;
  /** Counts the searches instead of this process's memory. The caller closes it. */
  limiter?: Limiter | undefined;
  /** The proxies, as CIDRs, whose X-Forwarded-For, -Proto and -Host are believed. Default none. */
  trustedProxies?: readonly string[] | undefined;
  /** The leading bits by which IPv6 clients are counted. Default 64. */
  ipv6Prefix?: number | undefined;
  /** How long a cache may use a response without asking again, such as `5m`. Default `0`. */
  cacheMaxAge?: string | undefined;
  /** Compresses responses. False where the host does, as Next.js must. Default true. */
  compress?: boolean | undefined;
  /** Serves the page for people at / and /drivers/{id}, which the options of the page are for. Default false. */
  page?: boolean | undefined;
  /** The scripts and the style of that page. Default those that come with Roadbook. */
  pageAssets?: () => Promise<PageAssets>;
  /** The script of the page at /docs, gzip-compressed. Default the one that comes with Roadbook. */
  docsScript?: DocsScript;
  /**
   * Requests that fail on purpose, written as for the flag `--fault`: `search:status=503,rate=0.1`,
   * `profile:delay=200ms,jitter=50ms`, `*:close`. For a closed connection, `fetch` returns a response
   * whose body fails. Only with this option, which may be an empty list, can `setFaults` change them.
   */
  faults?: readonly (string | Fault)[] | undefined;
  /** The same number and the same requests give the same faults. Default 1. */
  faultSeed?: number | undefined;
  /** Gets every bug that became a 500, and every error of `onResponse`. */
  onBug?: (error: unknown, requestId: string) => void;
  /** Gets the facts of every response. */
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
}

export interface ListenOptions {
  /** Default 0, which picks a free one. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
}

export interface Listening {
  /** Such as http://127.0.0.1:3000, without a slash at the end. */
  url: string;
  /** Closes all connections at once. */
  close(): Promise<void>;
}

export interface Roadbook extends AsyncDisposable {
  /**
   * Responds to a request, and may be given to a runtime as its handler. The second argument says from
   * which address the request came, which searches are counted by: the address, a function that returns
   * it, or what Bun, Deno and Hono pass. Without an address, see `defaultPeer`.
   */
  fetch: FetchHandler;
  /**
   * The same for `http.createServer` of Node and for `app.use` of Express, where requests for unknown
   * paths go to the next handler.
   */
  listener: NodeListener;
  /**
   * The Elysia app behind it, to be mounted in another: `new Elysia().use(roadbook.app)`. The package
   * types it in `roadbook/elysia`, as Elysia's types need `skipLibCheck`.
   */
  app: object;
  /** Serves HTTP on an address. Rejects with an error that names it. */
  listen(options?: ListenOptions): Promise<Listening>;
  /**
   * Applies changes, all or none: lines that replace what has their id, and lines that delete. Rejects
   * with a `DatasetError` when lines are wrong. Only for a snapshot in memory: a file is changed by
   * `applyChanges`, and `refresh` finds it changed. Rejects after `close`.
   */
  apply(changes: LineSource<ChangeLine | EndLine>): Promise<Meta>;
  /** The facts of the snapshot that is served. */
  meta(): Meta;
  /**
   * Checks whether the file of the snapshot has been replaced, and responds from the new one from
   * then on if it is good, every byte of it. Resolves to what came of it, or to undefined when there is
   * nothing new. A file that was refused is tried again when it changes, or with `isForced` at once.
   */
  refresh(isForced?: boolean): Promise<Replacement | undefined>;
  /**
   * Replaces the faults from the next request on, and draws from the start of the seed. Throws as
   * `createRoadbook` does, and an `Error` if that was given no `faults`.
   */
  setFaults(faults: readonly (string | Fault)[], seed?: number): void;
  /** Forgets all searches, so that every client has its full limit again. Throws if a `limiter` cannot. */
  resetLimit(): void;
  /** How searches are counted; undefined without a limit. */
  limiterStatus(): LimiterStatus | undefined;
  /**
   * Closes the snapshot, and before it every address that is listened on. From then on `fetch` responds
   * with 503 `unavailable`.
   */
  close(): Promise<void>;
}

/**
 * Opens what to respond from. Rejects with a `SnapshotError` or a `DatasetError` whose message is for
 * the operator, and with a `RangeError` or a `TypeError` that names the option.
 */
export async function createRoadbook(options: RoadbookOptions): Promise<Roadbook & { app: App }> {
  checkOptions(options);
  const { faultSeed = 1, publicUrl } = options;
  let faults = options.faults && createFaults(checkFaults(options.faults), faultSeed);
  const searchLimit = createSearchLimit(options);
  const basePath = basePathOf(options);
  const cacheMaxAgeSeconds = explain("cacheMaxAge", options.cacheMaxAge ?? "0", parseMaxAge);
  const page = await pageOf(options);
  // The demo was verified when it was put where it is.
  const trust = options.trustSnapshot || options.demo || false;
  const reloadable = await openReloadableSnapshot(await findSnapshot(options), { trust });
  let isClosed = false;
  const { app, fetch } = createApp({
    isClosed: () => isClosed,
    snapshot: reloadable.current,
    refused: reloadable.refused,
    source: () => options.snapshotSource?.(),
    publicUrl: publicUrl?.replace(/\/+$/, ""),
    basePath,
    searchLimit,
    clients: createClients({
      trusted: options.trustedProxies ?? [],
      ipv6Prefix: options.ipv6Prefix ?? 64,
    }),
    cacheMaxAgeSeconds,
    compress: options.compress ?? true,
    page,
    pageAssets: options.pageAssets ?? (async () => (await import("./assets.ts")).pageAssets()),
    docsScript: options.docsScript ?? (async () => (await import("./assets.ts")).docsScript()),
    onBug: options.onBug ?? ((error) => console.error(error)),
    onResponse: options.onResponse,
    defaultPeer: options.defaultPeer,
    // Elysia awaits what is declared async alone.
    fault: faults && (async (context) => faults?.(context)),
  });
  const listening: Listening[] = [];

  function checkOpen(): void {
    if (isClosed) throw new Error("this Roadbook is closed; make another with createRoadbook");
  }

  async function close(): Promise<void> {
    isClosed = true;
    for (const one of listening) await one.close();
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
      if (!faults)
        throw new Error("give createRoadbook the option faults, [] for none at the start");
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

/** The path or the bytes of the snapshot. What makes one is loaded here alone: 7 ms of a start. */
async function findSnapshot({ snapshot, dataset, demo }: RoadbookOptions) {
  if (snapshot !== undefined) return snapshot;
  if (demo) return (await import("./assets.ts")).demoSnapshot();
  return (await import("./snapshot/build/in-memory.ts")).buildSnapshot(dataset ?? []);
}

async function pageOf(options: RoadbookOptions): Promise<Pages | undefined> {
  const { page, kiosk, index, language, title = DEFAULT_TITLE, accent, logo, featured } = options;
  if (!page) return undefined;
  return {
    kiosk,
    index,
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
  "a text": (value: unknown) => typeof value === "string",
  "a list": Array.isArray,
  "a function": (value: unknown) => typeof value === "function",
  "a limiter": (value: unknown) => typeof value === "object" && value !== null,
  "a path or bytes": isPathOrObject,
  "a path, lines or bytes": isPathOrObject,
};

function isPathOrObject(value: unknown): boolean {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/** Every option, with what it must be. */
const optionKinds: Record<keyof RoadbookOptions, keyof typeof kinds> = {
  snapshot: "a path or bytes",
  dataset: "a path, lines or bytes",
  demo: "true or false",
  trustSnapshot: "true or false",
  snapshotSource: "a function",
  publicUrl: "a text",
  basePath: "a text",
  searchLimit: "a number",
  searchWindow: "a text",
  clock: "a function",
  defaultPeer: "a text",
  maxClients: "a number",
  limiter: "a limiter",
  trustedProxies: "a list",
  ipv6Prefix: "a number",
  cacheMaxAge: "a text",
  compress: "true or false",
  page: "true or false",
  title: "a text",
  accent: "a text",
  logo: "a path or bytes",
  kiosk: "true or false",
  kioskIdle: "a text",
  index: "true or false",
  language: "a text",
  featured: "a list",
  pageAssets: "a function",
  docsScript: "a function",
  faults: "a list",
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
  for (const [name, [least, most]] of Object.entries(bounds)) {
    const value = options[name as keyof typeof bounds] ?? least;
    if (Number.isInteger(value) && value >= least && value <= most) continue;
    throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not ${value}`);
  }
  const { snapshot, dataset, demo, publicUrl, kioskIdle, language } = options;
  const { trustedProxies = [], featured = [] } = options;
  if ([snapshot, dataset, demo || undefined].filter((one) => one !== undefined).length !== 1) {
    throw new TypeError("give one of snapshot, dataset and demo");
  }
  if (publicUrl !== undefined) explain("publicUrl", publicUrl, parseBaseUrl);
  if (kioskIdle !== undefined) explain("kioskIdle", kioskIdle, parseTime);
  if (language !== undefined && !isLanguage(language)) {
    throw new RangeError(`language must be one of ${Object.keys(languages)}, not ${language}`);
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

/** Gives the error of a parser, which says what it wants, the name of the option. */
function explain<T>(option: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    const wanted = error instanceof Error ? error.message : String(error);
    throw new RangeError(`${option} has ${JSON.stringify(text)}, not ${wanted}`);
  }
}
