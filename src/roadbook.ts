/** Roadbook as a library: one object that serves a snapshot, a dataset or the demo. */
import { readFile } from "node:fs/promises";
import type { ChangeLine, EndLine } from "./domain/dataset.ts";
import { reasonOf } from "./files/errors.ts";
import { TEMPORARY } from "./files/temporary-folder.ts";
import { type App, createApp, type FetchHandler, type RequestHandler } from "./http/app.ts";
import type { Pages } from "./http/context.ts";
import { createFaultInjector } from "./http/fault-injection.ts";
import { createClients, loopback } from "./limit/client-address.ts";
import { createLimiter, type Limiter, type LimiterStatus } from "./limit/limiter.ts";
import { createNodeListener, type NodeListener, openListener } from "./server/listen.ts";
import { takeTurns } from "./server/turns.ts";
import {
  type LibraryValues,
  type RoadbookOptions,
  readOptions,
} from "./settings/library-options.ts";
import type { Groups } from "./settings/serve-flags.ts";
import type { Meta } from "./snapshot/format/meta.ts";
import type { LineSource } from "./snapshot/import/read-dataset.ts";
import { openReloadableSnapshot, type Replacement } from "./snapshot/read/reload.ts";
import type { Source } from "./snapshot/remote/source.ts";
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
  apply(changes: LineSource<ChangeLine | EndLine>): Promise<Meta>;
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
  /** Stops listening. From then on, every response is a 503. */
  close(): Promise<void>;
}

/**
 * Rejects with a `SnapshotError` or `DatasetError` whose message is for the operator, or with a
 * `RangeError` or `TypeError` that names an invalid option.
 */
export async function createRoadbook(options: RoadbookOptions): Promise<Roadbook & { app: App }> {
  const values = readOptions(options);
  return openRoadbook({
    snapshot: { data: await findSnapshot(values), cacheDir: values.cacheDir },
    responses: values,
    page: values,
    hasPage: values.page === true,
    limit: values,
    faults: values,
    events: values,
  });
}

/** The settings of a server in groups, with the values that only a caller can make. */
export interface Config extends Pick<Groups, "page" | "faults"> {
  /** The path or bytes of the snapshot, and the state of its source if it comes from a URL. */
  snapshot: Groups["snapshot"] & {
    data: string | Uint8Array;
    source?: Pick<Source, "status" | "refused"> | undefined;
  };
  responses: Groups["responses"] & Pick<LibraryValues, "basePath" | "compress">;
  hasPage: boolean;
  limit: Groups["limit"] & Pick<LibraryValues, "clock" | "defaultPeer">;
  /** Replaces the limiter in memory. The caller must close it. */
  sharedLimiter?: Limiter | undefined;
  events: Pick<LibraryValues, "onBug" | "onResponse">;
}

type OpenRoadbook = Roadbook & { app: App; handler: RequestHandler; refused(): string | undefined };

/** Like {@link createRoadbook}, but takes values that are parsed already. */
export async function openRoadbook(config: Config): Promise<OpenRoadbook> {
  const { responses, limit, events, page, faults } = config;
  const { data, cacheDir, source } = config.snapshot;
  const { publicUrl, basePath, cacheMaxAge, compress = true } = responses;
  const { onBug = (error: unknown) => console.error(error) } = events;
  const publicPath = publicUrl && new URL(publicUrl).pathname.replace(/\/$/, "");
  const { searchLimit, searchWindow: windowMs, maxClients, clock } = limit;
  const injector = faults.faults && createFaultInjector();
  injector?.replace(faults.faults ?? [], faults.faultSeed);
  const inMemory = () => createLimiter({ limit: searchLimit, windowMs, maxClients, clock });
  const limiter = searchLimit > 0 ? (config.sharedLimiter ?? inMemory()) : undefined;
  const pages = config.hasPage ? await openPages(page) : undefined;
  const reloadable = await openReloadableSnapshot(data, cacheDir);
  /** Why a newer snapshot is not served. Anyone can read this, so it names no folder. */
  const refused = () =>
    reloadable.refused()?.reason.replaceAll(cacheDir ?? TEMPORARY, "the cache") ??
    source?.refused();
  let isClosed = false;
  const { app, ...handler } = createApp({
    publicUrl,
    basePath: basePath ?? publicPath ?? "",
    cacheMaxAgeSeconds: Math.floor(cacheMaxAge / 1000),
    compress,
    page: pages,
    snapshot: reloadable.current,
    refused,
    source: () => source?.status(),
    isClosed: () => isClosed,
    clients: createClients({
      trusted: limit.trustedProxies,
      unlimited: [...(limit.unlimited ?? []), ...(page.kiosk ? loopback : [])],
      ipv6Prefix: limit.ipv6Prefix,
    }),
    defaultPeer: limit.defaultPeer,
    searchLimit: limiter && { limiter, windowMs, clock: clock ?? Date.now },
    faults: injector ? [injector.inject] : [],
    // Whatever it throws, the client must still get a response.
    onBug: (...bug) => void (async () => onBug(...bug))().catch(() => {}),
    onResponse: events.onResponse,
  });
  // Some hosts pass more arguments.
  const fetch: FetchHandler = (request, from) => handler.fetch(request, from);
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
    handler,
    listener: createNodeListener(fetch),
    async listen({ port = 0, host = "127.0.0.1" } = {}) {
      checkOpen();
      const { origin, close } = await openListener({ host, port }, takeTurns(handler));
      listening.push({ url: origin, close });
      return { url: origin, close };
    },
    async apply(changes) {
      checkOpen();
      const { changeSnapshot } = await import("./snapshot/import/apply.ts");
      return reloadable.change((snapshot) => changeSnapshot(snapshot, changes));
    },
    meta() {
      const { meta, sha256 } = reloadable.current();
      return { ...meta, sha256 };
    },
    refresh: reloadable.refresh,
    refused,
    listFaults: () => injector?.list() ?? [],
    setFaults(list, seed = faults.faultSeed) {
      if (!injector) throw new Error("setFaults needs the option faults, even if it is empty");
      injector.replace(readOptions({ faults: list }).faults ?? [], seed);
    },
    resetLimit() {
      if (limiter && !limiter.reset) throw new Error("the counts are in a shared store");
      limiter?.reset?.();
    },
    limiterStatus: () => limiter?.status(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the snapshot's path or bytes. */
async function findSnapshot({ snapshot, dataset, demo }: LibraryValues) {
  const given = [snapshot, dataset, demo || undefined].filter((each) => each !== undefined);
  if (given.length !== 1) throw new TypeError("give exactly one of snapshot, dataset and demo");
  if (snapshot !== undefined) return snapshot;
  if (demo) return demoSnapshot();
  return (await import("./snapshot/import/import.ts")).buildSnapshot(dataset ?? []);
}

async function openPages({ logo, ...page }: Config["page"]): Promise<Pages> {
  const parsed = logo === undefined ? undefined : await readLogo(logo);
  return { ...page, logo: parsed, assets: await pageAssets() };
}

async function readLogo(logo: string | Uint8Array): Promise<Logo> {
  const isPath = typeof logo === "string";
  try {
    return parseLogo(isPath ? await readFile(logo) : logo);
  } catch (error) {
    const problem = error instanceof RangeError ? "" : "cannot be read: ";
    throw new Error(`${isPath ? logo : "the logo"} ${problem}${reasonOf(error)}`);
  }
}
