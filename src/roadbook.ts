/** Roadbook as a library: one object that serves a snapshot, a dataset or the demo. */
import { readFile } from "node:fs/promises";
import type { AnyLine } from "./domain/dataset.ts";
import { InvalidValue } from "./domain/invalid-value.ts";
import { lazyAsync } from "./domain/lazy.ts";
import { reasonOf } from "./files/errors.ts";
import { type App, createApp } from "./http/app.ts";
import type { AppOptions } from "./http/app-options.ts";
import { rejectDropped } from "./http/dropped-connection.ts";
import { createInjector } from "./http/fault-injection.ts";
import type { GivenFault } from "./http/parse-fault.ts";
import type { FetchHandler } from "./http/request.ts";
import type { LineSource } from "./import/line-reader.ts";
import { type Clients, createClients, loopback } from "./limit/client-address.ts";
import {
  createMemoryLimiter,
  type Limiter,
  type LimiterStatus,
  type LimitPolicy,
} from "./limit/limiter.ts";
import type { StoreOptions } from "./limit/shared-limiter.ts";
import { DEFAULT_HOST } from "./server/address.ts";
import { openListener } from "./server/listen.ts";
import { createNodeListener, type NodeListener } from "./server/node-listener.ts";
import { takeTurns } from "./server/turns.ts";
import {
  type RoadbookOptions,
  type RoadbookValues,
  readOption,
  readOptions,
} from "./settings/library-options.ts";
import { type SharedValues, sharedSettings } from "./settings/serve-flags.ts";
import type { Meta } from "./snapshot/format/meta.ts";
import { openReloadable, type Replacement } from "./snapshot/read/reload.ts";
import type { RemoteStatus } from "./snapshot/remote/remote-snapshot.ts";
import { DEMO_SNAPSHOT, findBundled, pageAssets } from "./web/assets.ts";
import { type Logo, parseLogo, type Site } from "./web/brand.ts";

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

/** The path or bytes of a change file (NDJSON, plain or gzip), or lines as objects. */
export type Changes = LineSource<AnyLine>;

export interface Roadbook extends AsyncDisposable {
  /**
   * Responds to a request. Searches are counted under the client's address. Pass it, a function
   * that returns it, or the argument that Bun, Deno or Hono passes to a fetch handler.
   */
  fetch: FetchHandler;
  /** `fetch` for `http.createServer`, or for Express below a path of its own. */
  listener: NodeListener;
  /**
   * The Elysia app, to mount in another app. Only `roadbook/elysia` exports its type, because
   * Elysia's types need `skipLibCheck`.
   */
  app: object;
  /** If the address cannot be used, rejects with an error that names it. */
  listen(options?: ListenOptions): Promise<Listening>;
  /**
   * Applies all changes, or rejects with a `DatasetError` if a line is invalid. Works only for a
   * snapshot in memory. To change a snapshot file, call `applyChanges` and then `refresh`.
   */
  apply(changes: Changes): Promise<Meta>;
  meta(): Meta & { sha256: string };
  /**
   * Serves a new snapshot file if there is one and every byte of it is valid. Resolves to undefined
   * if there is none. A refused file is tried again when it changes, or if `isForced` is set.
   */
  refresh(isForced?: boolean): Promise<Replacement | undefined>;
  /** Also restarts the random sequence and the counts. Throws without the option `faults`. */
  setFaults(faults: readonly string[], seed?: number): void;
  /** Returns the faults as they were given. */
  listFaults(): string[];
  /** Resets the search count of every client. Throws if the counts are in a shared store. */
  resetLimit(): void;
  /** Undefined if searches are not limited. */
  limiterStatus(): LimiterStatus | undefined;
  /** Stops listening. From then on, every response is a 503, and a running `apply` rejects. */
  close(): Promise<void>;
}

/**
 * Rejects with a `SnapshotError` or `DatasetError` whose message is for the operator, or with a
 * `RangeError` or `TypeError` that names an invalid option.
 */
export async function createRoadbook(options: RoadbookOptions): Promise<Roadbook & { app: App }> {
  // A Roadbook keeps its values, so the dataset, which may be large, is not among them.
  const { snapshot, dataset, demo, ...values } = readOptions(options);
  const sources = [snapshot, dataset, demo || undefined].filter((each) => each !== undefined);
  if (sources.length !== 1) throw new TypeError("give exactly one of snapshot, dataset and demo");

  const found =
    dataset === undefined
      ? (snapshot ?? (await demoSnapshot()))
      : await (await import("./import/import.ts")).buildSnapshot(dataset);
  return openRoadbook({ ...values, snapshot: found, limiter: await openLimiter(values) });
}

/** The bundled data. Kept, because test rigs serve it for each test. */
export const demoSnapshot = lazyAsync<Uint8Array>(async () => {
  const bundled = findBundled(DEMO_SNAPSHOT);
  if (bundled) return bundled;
  const { demoDataset } = await import("./community/community.ts");
  const { buildSnapshot } = await import("./import/import.ts");
  return buildSnapshot(demoDataset());
});

/** Returns undefined if searches are not limited. Only with a store must the limiter be disposed of. */
export async function openLimiter(
  { searchLimit: limit, searchWindow: windowMs, maxClients, clock }: OwnValues,
  store?: StoreOptions,
): Promise<Limiter | undefined> {
  if (limit === 0) return undefined;
  const options = { limit, windowMs, maxClients, clock };
  if (store === undefined) return createMemoryLimiter(options);
  // Imported only if needed, because only Bun has a Redis client.
  const { openSharedLimiter } = await import("./limit/shared-limiter.ts");
  return openSharedLimiter({ ...options, ...store });
}

/** The parsed options, except what is served. Those that only the library has may be left out. */
type OwnValues = SharedValues & Partial<Omit<RoadbookValues, "snapshot" | "dataset" | "demo">>;

/** The caller closes what it has opened, after the Roadbook. */
type OpenOptions = OwnValues &
  Pick<AppOptions, "limiter" | "onSharedBudget"> & {
    /** The path or bytes of the snapshot. */
    snapshot: string | Uint8Array;
    /** The origin of newer snapshots: a URL, which has a status, or data. */
    upstream?: { refused(): string | undefined; status?(): RemoteStatus } | undefined;
    /** This and `onSharedBudget` are only for `serve`: a host knows its proxies and serves TLS. */
    isHttpsOnly?: boolean;
  };

/** The default policy, which an injected 429 shows if searches are not limited. */
const USUAL_POLICY: LimitPolicy = {
  limit: sharedSettings.searchLimit.type.parse(sharedSettings.searchLimit.default),
  windowMs: sharedSettings.searchWindow.type.parse(sharedSettings.searchWindow.default),
};

/**
 * Like {@link createRoadbook}, but takes values that are parsed already. Programs can pass each
 * function on alone, as in `afterAll(roadbook.close)`.
 */
export async function openRoadbook({ snapshot, upstream, limiter, ...values }: OpenOptions) {
  const { publicUrl, basePath, compress = true, isHttpsOnly = false } = values;
  const site = values.page ? await openSite(values) : undefined;
  const reloadable = await openReloadable(snapshot, values.cacheDir);
  const listening: Pick<Listening, "close">[] = [];
  const closing = new AbortController();
  const closed = closing.signal;

  // A test's clock is also the limiter's, which is monotonic otherwise.
  const unixClock = values.clock ?? Date.now;
  const injector =
    values.faults && createInjector({ policy: limiter?.policy ?? USUAL_POLICY, unixClock, closed });
  injector?.replace(values.faults ?? [], values.faultSeed);

  const refused = (): string | undefined => reloadable.refused()?.reason ?? upstream?.refused();

  const { mountable, handler } = createApp({
    reloadable,
    remoteStatus: () => upstream?.status?.(),
    refused,
    closed,
    publicUrl,
    isHttpsOnly,
    basePath: basePath ?? (publicUrl ? new URL(publicUrl).pathname.replace(/\/$/, "") : ""),
    site,
    clients: clientsOf(values),
    defaultPeer: values.defaultPeer,
    onSharedBudget: values.onSharedBudget,
    limiter,
    unixClock,
    cacheMaxAge: values.cacheMaxAge,
    compress,
    faultHooks: injector ? [injector.inject] : [],
    onResponse: values.onResponse,
    onBug: createReporter(values.onBug),
  });

  async function listen({ port = 0, host = DEFAULT_HOST }: ListenOptions = {}): Promise<Listening> {
    requireOpen(closed);
    const { origin, close } = await openListener({ host, port }, takeTurns(handler));
    if (closed.aborted) await close();
    requireOpen(closed);
    listening.push({ close });
    return { url: origin, close };
  }

  async function apply(changes: Changes): Promise<Meta> {
    requireOpen(closed);
    const { changeSnapshot } = await import("./import/apply.ts");
    const meta = await reloadable.change((bytes) => changeSnapshot(bytes, changes));
    requireOpen(closed);
    return meta ?? reloadable.current().meta;
  }

  function setFaults(faults: readonly string[], seed = values.faultSeed): void {
    if (!injector) throw new Error("setFaults needs the option faults, even if it is empty");
    injector.replace(readOption("faults", sharedSettings.faults, faults) as GivenFault[], seed);
  }

  async function close(): Promise<void> {
    closing.abort();
    for (const each of listening) await each.close();
    reloadable.close();
  }

  return {
    handler,
    fetch: injector ? rejectDropped(handler.fetch) : handler.fetch,
    listener: createNodeListener(handler.fetch),
    get app(): App {
      return mountable();
    },
    listen,
    apply,
    meta() {
      const { meta, sha256 } = reloadable.current();
      return { ...meta, sha256 };
    },
    refresh: (isForced = false) => reloadable.refresh(isForced),
    refused,
    setFaults,
    listFaults: () => injector?.list() ?? [],
    resetLimit: () => limiter?.reset(),
    limiterStatus: () => limiter?.status(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function requireOpen(closed: AbortSignal): void {
  if (closed.aborted) {
    throw new Error("this Roadbook is closed; create another with createRoadbook");
  }
}

function clientsOf(values: SharedValues): Clients {
  const { trustedProxies: trusted, unlimited = [], kiosk, ipv6Prefix } = values;
  const all = kiosk ? [...unlimited, ...loopback] : unlimited;
  return createClients({ trusted, unlimited: all, ipv6Prefix });
}

/** Whatever the program's `onBug` throws, the client must still get a response. */
function createReporter(onBug: RoadbookValues["onBug"] = (error) => console.error(error)) {
  return (error: unknown, requestId: string): void => {
    const reported = (async () => onBug(error, requestId))();
    reported.catch(() => {});
  };
}

async function openSite(values: SharedValues): Promise<Site> {
  const { logo } = values;
  return {
    title: values.title,
    accent: values.accent,
    logo: logo === undefined ? undefined : await readLogo(logo),
    language: values.language,
    featured: readFeatured(values.featured),
    icons: values.icons,
    links: values.links,
    driverLink: values.driverLink,
    companyLink: values.companyLink,
    allowIndexing: values.allowIndexing,
    kiosk: values.kiosk,
    kioskIdle: values.kioskIdle,
    assets: await pageAssets(),
  };
}

function readFeatured(featured: SharedValues["featured"]): Site["featured"] {
  return featured?.includes("all") ? "all" : featured?.filter((id) => id !== "all");
}

async function readLogo(logo: string | Uint8Array): Promise<Logo> {
  const isPath = typeof logo === "string";
  try {
    return parseLogo(isPath ? await readFile(logo) : logo);
  } catch (error) {
    const problem = error instanceof InvalidValue ? "" : "cannot be read: ";
    throw new Error(`${isPath ? logo : "the logo"} ${problem}${reasonOf(error)}`);
  }
}
