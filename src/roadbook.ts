/** Roadbook as a library: one object that serves a snapshot, a dataset or the demo. */
import type { ChangeLine, EndLine } from "./domain/dataset.ts";
import { reasonOf } from "./files/errors.ts";
import { openFile } from "./files/read.ts";
import { type App, createApp, type FetchHandler } from "./http/app.ts";
import { createFaults } from "./http/faults.ts";
import type { Pages } from "./http/pages.ts";
import { createClients } from "./limit/client-address.ts";
import { createLimiter, type LimiterStatus } from "./limit/limiter.ts";
import { createNodeListener, type NodeListener } from "./server/node-listener.ts";
import { cidr } from "./settings/kinds.ts";
import { type Config, type RoadbookOptions, readOptions } from "./settings/serve.ts";
import type { Meta } from "./snapshot/format/meta.ts";
import type { LineSource } from "./snapshot/import/read-dataset.ts";
import { openReloadableSnapshot, type Replacement } from "./snapshot/read/reloadable.ts";
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
  return openRoadbook(readOptions(options));
}

/** The clients whose searches a kiosk does not count: those on the server's own machine. */
const loopback = ["127.0.0.0/8", "::1"].map((text) => cidr.convert(text));

/** Like {@link createRoadbook}, but takes values that are parsed already. */
export async function openRoadbook(config: Config): Promise<Roadbook & { app: App }> {
  const { faultSeed, limiter: shared, searchLimit: limit, searchWindow: windowMs } = config;
  let faults = config.faults && createFaults(config.faults, faultSeed);
  const limiter = limit > 0 ? (shared ?? createLimiter({ ...config, limit, windowMs })) : undefined;
  const page = config.page ? await pageOf(config) : undefined;
  const reloadable = await openReloadableSnapshot(await findSnapshot(config), config.cacheDir);
  const publicPath = config.publicUrl && new URL(config.publicUrl).pathname.replace(/\/$/, "");
  let isClosed = false;
  const { app, fetch } = createApp({
    ...config,
    basePath: config.basePath ?? publicPath ?? "",
    clients: createClients({
      trusted: config.trustedProxies,
      unlimited: [...(config.unlimited ?? []), ...(config.kiosk ? loopback : [])],
      ipv6Prefix: config.ipv6Prefix,
    }),
    cacheMaxAgeSeconds: Math.floor(config.cacheMaxAge / 1000),
    compress: config.compress ?? true,
    page,
    docsScript: async () => (await import("./web/assets.ts")).docsScript(),
    onBug: config.onBug ?? ((error: unknown) => console.error(error)),
    source: () => config.snapshotSource?.(),
    isClosed: () => isClosed,
    snapshot: reloadable.current,
    refused: reloadable.refused,
    searchLimit: limiter && { limiter, windowMs, clock: config.clock ?? Date.now },
    // Elysia awaits a hook only if it is declared async.
    faults: faults ? [async (context) => faults?.(context)] : [],
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
      checkOpen();
      const { port = 0, host = "127.0.0.1" } = options;
      const { openListener } = await import("./server/listen.ts");
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
      faults = createFaults(readOptions({ faults: list }).faults ?? [], seed);
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
async function findSnapshot({ snapshot, dataset, demo }: Config): Promise<string | Uint8Array> {
  const given = [snapshot, dataset, demo || undefined].filter((each) => each !== undefined);
  if (given.length !== 1) throw new TypeError("give exactly one of snapshot, dataset and demo");
  if (snapshot !== undefined) return snapshot;
  if (demo) return (await import("./web/assets.ts")).demoSnapshot();
  return (await import("./snapshot/import/import.ts")).buildSnapshot(dataset ?? []);
}

async function pageOf(config: Config): Promise<Pages> {
  const logo = config.logo === undefined ? undefined : await readLogo(config.logo);
  return { ...config, logo, assets: await (await import("./web/assets.ts")).pageAssets() };
}

async function readLogo(logo: string | Uint8Array): Promise<Logo> {
  try {
    if (typeof logo !== "string") return parseLogo(logo);
    await using file = await openFile(logo);
    return parseLogo(await file.readFile());
  } catch (error) {
    const reason =
      error instanceof RangeError ? error.message : `cannot be read: ${reasonOf(error)}`;
    throw new Error(`${typeof logo === "string" ? logo : "the logo"} ${reason}`);
  }
}
