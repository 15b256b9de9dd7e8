/** Roadbook as a library: one object that serves a snapshot, a dataset or the demo. */
import { readFile } from "node:fs/promises";
import type { ChangeLine, EndLine, IdsLine } from "./domain/dataset.ts";
import { InvalidValue } from "./domain/invalid-value.ts";
import { DEFAULT_HOST } from "./domain/limits.ts";
import { reasonOf } from "./files/errors.ts";
import { type App, createApp } from "./http/app.ts";
import type { AppOptions, Pages } from "./http/app-options.ts";
import { FaultInjector, rejectDropped } from "./http/fault-injection.ts";
import type { GivenFault } from "./http/parse-fault.ts";
import type { FetchHandler, RequestHandler } from "./http/request-handler.ts";
import type { LineSource } from "./import/line-reader.ts";
import { Clients, loopback } from "./limit/client-address.ts";
import type { Limiter, LimiterStatus, LimitPolicy } from "./limit/decision.ts";
import { openLimiter } from "./limit/open-limiter.ts";
import { openListener } from "./server/listen.ts";
import { createNodeListener, type NodeListener } from "./server/node-listener.ts";
import { takeTurns } from "./server/turns.ts";
import {
  type RoadbookOptions,
  type RoadbookValues,
  readOption,
  readOptions,
} from "./settings/library-options.ts";
import { sharedSettings } from "./settings/serve-flags.ts";
import type { Meta } from "./snapshot/format/meta.ts";
import { ReloadableSnapshot, type Replacement } from "./snapshot/read/reload.ts";
import type { RemoteSnapshot } from "./snapshot/remote/remote-snapshot.ts";
import { demoSnapshot, pageAssets } from "./web/assets.ts";
import { type Logo, parseLogo } from "./web/brand.ts";

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
   * Responds to a request. Searches are counted under the client's address. Pass it, a function
   * that returns it, or the argument that Bun, Deno or Hono passes to a fetch handler.
   */
  fetch: FetchHandler;
  /** `fetch` for `http.createServer` or Express, where the next handler gets unknown paths. */
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
  apply(changes: LineSource<ChangeLine | IdsLine | EndLine>): Promise<Meta>;
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
  const found = await findSnapshot({ snapshot, dataset, demo });
  return openRoadbook(values, { snapshot: found, limiter: await openLimiter(values) });
}

/** The options that say what to serve. Only {@link findSnapshot} reads them. */
type Served = "snapshot" | "dataset" | "demo";

/** The options that say how to serve it. */
interface Values extends Omit<RoadbookValues, Served> {
  /** Not an option of the library, whose host knows its proxies. */
  onSharedBudget?: AppOptions["onSharedBudget"];
}

/** Resources that the caller of {@link openRoadbook} opens, and closes after the Roadbook. */
interface Opened {
  /** The path or bytes of the snapshot. */
  snapshot: string | Uint8Array;
  /** Undefined unless the snapshot comes from a URL. */
  remote?: Pick<RemoteSnapshot, "status" | "refused"> | undefined;
  /** Undefined if searches are not limited. */
  limiter: Limiter | undefined;
}

/** Like {@link createRoadbook}, but takes values that are parsed already. */
export async function openRoadbook(
  values: Values,
  { snapshot, ...opened }: Opened,
): Promise<OpenRoadbook> {
  const pages = values.page ? await openPages(values) : undefined;
  const reloadable = await ReloadableSnapshot.open(snapshot, values.cacheDir);
  return new OpenRoadbook(values, { ...opened, pages, reloadable });
}

interface Parts extends Omit<Opened, "snapshot"> {
  pages: Pages | undefined;
  reloadable: ReloadableSnapshot;
}

/** The default policy, which an injected 429 shows if searches are not limited. */
const USUAL_POLICY: LimitPolicy = {
  limit: sharedSettings.searchLimit.kind.parse(sharedSettings.searchLimit.default),
  windowMs: sharedSettings.searchWindow.kind.parse(sharedSettings.searchWindow.default),
};

/** The functions are properties, so programs can pass each on alone, as in `afterAll(roadbook.close)`. */
export class OpenRoadbook implements Roadbook {
  readonly handler: RequestHandler;
  readonly fetch: FetchHandler;
  readonly listener: NodeListener;
  readonly #values: Values;
  readonly #parts: Parts;
  /** A test's clock is also the limiter's, which is monotonic otherwise. */
  readonly #unixClock: () => number;
  readonly #injector: FaultInjector | undefined;
  readonly #listeners: Pick<Listening, "close">[] = [];
  readonly #createMountable: () => App;
  #app: App | undefined;
  readonly #closing = new AbortController();

  constructor(values: Values, parts: Parts) {
    this.#values = values;
    this.#parts = parts;
    this.#unixClock = values.clock ?? Date.now;

    if (values.faults) {
      this.#injector = new FaultInjector(parts.limiter?.policy ?? USUAL_POLICY, this.#unixClock);
      this.#injector.replace(values.faults, values.faultSeed);
    }

    const { createMountable, handler } = createApp(this.#appOptions());
    this.#createMountable = createMountable;
    this.handler = handler;
    this.fetch = this.#injector ? rejectDropped(handler) : handler.fetch;
    this.listener = createNodeListener(handler.fetch, handler.tryFetch);
  }

  /** Made when it is first needed, because `serve` never needs it. */
  get app(): App {
    this.#app ??= this.#createMountable();
    return this.#app;
  }

  readonly listen = async ({ port = 0, host = DEFAULT_HOST }: ListenOptions = {}) => {
    this.#requireOpen();
    const { origin, close } = await openListener({ host, port }, takeTurns(this.handler));
    if (this.#closing.signal.aborted) await close();
    this.#requireOpen();
    this.#listeners.push({ close });
    return { url: origin, close };
  };

  readonly apply: Roadbook["apply"] = async (changes) => {
    this.#requireOpen();
    const { changeSnapshot } = await import("./import/apply.ts");
    const meta = await this.#parts.reloadable.change((bytes) => changeSnapshot(bytes, changes));
    return meta ?? this.#throwClosed();
  };

  readonly meta = () => {
    const { meta, sha256 } = this.#parts.reloadable.current();
    return { ...meta, sha256 };
  };

  readonly refresh = (isForced = false) => this.#parts.reloadable.refresh(isForced);

  /** Why a newer snapshot is not served. Anyone can read this. */
  readonly refused = (): string | undefined => {
    const { reloadable, remote } = this.#parts;
    return reloadable.refused()?.reason ?? remote?.refused();
  };

  readonly setFaults = (faults: readonly string[], seed = this.#values.faultSeed): void => {
    if (!this.#injector) throw new Error("setFaults needs the option faults, even if it is empty");
    const parsed = readOption("faults", sharedSettings.faults, faults) as GivenFault[];
    this.#injector.replace(parsed, seed);
  };

  readonly listFaults = (): string[] => this.#injector?.list() ?? [];

  readonly resetLimit = (): void => {
    this.#parts.limiter?.reset();
  };

  readonly isPublic = (id: number): boolean =>
    typeof this.#parts.reloadable.current().users.findName(id) === "string";

  readonly limiterStatus = () => this.#parts.limiter?.status();

  readonly close = async (): Promise<void> => {
    this.#closing.abort();
    for (const listener of this.#listeners) await listener.close();
    this.#parts.reloadable.close();
  };

  readonly [Symbol.asyncDispose] = this.close;

  #requireOpen(): void {
    if (this.#closing.signal.aborted) this.#throwClosed();
  }

  #throwClosed(): never {
    throw new Error("this Roadbook is closed; create another with createRoadbook");
  }

  #appOptions(): AppOptions {
    const { reloadable, remote, pages, limiter } = this.#parts;
    const values = this.#values;
    const { publicUrl, onBug = (error: unknown) => console.error(error) } = values;
    const publicPath = publicUrl && new URL(publicUrl).pathname.replace(/\/$/, "");

    return {
      publicUrl,
      basePath: values.basePath ?? publicPath ?? "",
      cacheMaxAgeSeconds: Math.floor(values.cacheMaxAge / 1000),
      compress: values.compress ?? true,
      pages,
      currentSnapshot: reloadable.current,
      refused: () => this.refused(),
      remoteStatus: () => remote?.status(),
      closed: this.#closing.signal,
      clients: clientsOf(values),
      defaultPeer: values.defaultPeer,
      onSharedBudget: values.onSharedBudget,
      limiter,
      unixClock: this.#unixClock,
      faultHooks: this.#injector ? [this.#injector.inject] : [],
      // Whatever it throws, the client must still get a response.
      onBug(error, requestId) {
        const reported = (async () => onBug(error, requestId))();
        reported.catch(() => {});
      },
      onResponse: values.onResponse,
    };
  }
}

function clientsOf({ trustedProxies, unlimited = [], kiosk, ipv6Prefix }: Values): Clients {
  return new Clients({
    trusted: trustedProxies,
    unlimited: kiosk ? [...unlimited, ...loopback] : unlimited,
    ipv6Prefix,
  });
}

/** Returns the snapshot's path or bytes. */
async function findSnapshot({ snapshot, dataset, demo }: Pick<RoadbookValues, Served>) {
  const given = [snapshot, dataset, demo || undefined].filter((each) => each !== undefined);
  if (given.length !== 1) throw new TypeError("give exactly one of snapshot, dataset and demo");
  if (snapshot !== undefined) return snapshot;
  if (demo) return demoSnapshot();
  return (await import("./import/import.ts")).buildSnapshot(dataset ?? []);
}

async function openPages(values: Values): Promise<Pages> {
  // One by one, because other values, such as the URL of a store, may have a password.
  return {
    title: values.title,
    accent: values.accent,
    logo: values.logo === undefined ? undefined : await readLogo(values.logo),
    language: values.language,
    kiosk: values.kiosk,
    kioskIdle: values.kioskIdle,
    allowIndexing: values.allowIndexing,
    featured: values.featured,
    links: values.links,
    driverLink: values.driverLink,
    companyLink: values.companyLink,
    icons: values.icons,
    assets: await pageAssets(),
  };
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
