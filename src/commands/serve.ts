/** `roadbook serve`: assembles the server and runs it until SIGTERM or SIGINT. */
import { mkdtempSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { version } from "../domain/version.ts";
import type { FetchHandler } from "../http/app.ts";
import type { Metrics } from "../http/metrics.ts";
import type { ResponseFacts } from "../http/request-context.ts";
import type { Limiter } from "../limit/limiter.ts";
import { formatDuration } from "../options.ts";
import { createRoadbook, type Roadbook, type RoadbookOptions } from "../roadbook.ts";
import type { Listener } from "../server/listen.ts";
import { createLog } from "../server/log.ts";
import { openListener } from "../server/open.ts";
import { readTls } from "../server/tls.ts";
import type { Replacement } from "../snapshot/read/reloadable.ts";
import type { RemoteLocation } from "../snapshot/remote/location.ts";
import type { Source } from "../snapshot/remote/source.ts";
import { endOnSignal, writeStdout } from "./output.ts";
import type { ServeFlags } from "./serve-flags.ts";

/** How often to look for a new snapshot file, which must be served within a second. */
const REFRESH_MS = 200;

/** The flags of `serve`, plus settings derived from the flags and the environment. */
interface ServeConfig extends ServeFlags {
  /** Where to fetch the snapshot from, if it is not a file. */
  location: RemoteLocation | undefined;
  /** The environment variables that look like settings but match no flag. */
  unknownVariables: string[];
}

export async function runServe(config: ServeConfig): Promise<void> {
  // Without a handler, SIGHUP would end the process. There is nothing to reload yet.
  process.on("SIGHUP", () => {});
  const log = await createLog(config.logLevel);
  try {
    await serve(config, log);
  } finally {
    await log.close();
  }
}

/** The state that the parts of a running server share. */
interface ServerState {
  isStopping: boolean;
  /** Undefined if there is no admin port. */
  metrics: Metrics | undefined;
}

/** Serves until SIGTERM or SIGINT, then finishes the requests in progress. */
async function serve(config: ServeConfig, log: Logger): Promise<void> {
  const { tlsCert: cert, tlsKey: key } = config;
  const tls = cert && key ? readTls({ cert, key }) : undefined;
  const source = await findSource(config, log);
  const limiter = await openLimiter(config, log);
  const state: ServerState = { isStopping: false, metrics: undefined };
  const path = source?.path ?? config.snapshot;
  const roadbook = await createRoadbook({
    ...optionsOf(config),
    snapshot: path,
    demo: path === undefined,
    snapshotSource: source?.status,
    limiter,
    onBug: (error, requestId) => log.error({ err: error, requestId }, "bug"),
    onResponse: (facts) => {
      state.metrics?.countResponse(facts);
      if (config.accessLog) logAccess(log, facts);
    },
  });
  const admin = await openAdmin(config, state, roadbook, source);
  const respond = createRespond(roadbook, state);
  const listener = await openListener({ ...config, flagPrefix: "--" }, respond, tls);
  // Called before the ready line, because programs may send a signal as soon as they read it.
  const stopSignal = nextSignal();
  const reloading = startReloading(config, log, state, roadbook, source);
  process.on("SIGHUP", reloading.now);
  logStart(config, log, roadbook);
  if (admin) log.info(`admin listening on ${admin.origin}`);
  writeStdout(`roadbook listening on ${listener.origin}\n`);
  log.info({ url: listener.origin }, "ready");

  const signal = await stopSignal;
  state.isStopping = true;
  process.off("SIGHUP", reloading.now);
  log.info({ signal }, "stopping");
  // A second signal or the timeout cuts off requests that are still in progress.
  await Promise.race([listener.drain(), nextSignal(), sleep(config.shutdownTimeout)]);
  await Promise.all([listener.close(), admin?.close()]);
  reloading.stop();
  limiter?.close();
  roadbook.close();
  log.info("stopped");
}

/** Opens the admin port and sets `state.metrics`, if an admin port is configured. */
async function openAdmin(
  config: ServeConfig,
  state: ServerState,
  roadbook: Roadbook,
  source: Source | undefined,
): Promise<Listener | undefined> {
  const { adminHost: host, adminPort: port } = config;
  if (port === undefined) return undefined;
  // Imported only if needed, because the metrics slow down startup.
  const { createAdminFetch, createMetrics } = await import("../http/metrics.ts");
  state.metrics = createMetrics({ ...roadbook, source: source?.status });
  const respond = createAdminFetch(state.metrics, () => !state.isStopping);
  return openListener({ host, port, flagPrefix: "--admin-" }, respond);
}

/** Adds `Connection: close` during shutdown, and adds the `Date` that Bun omits for HEAD. */
function createRespond(roadbook: Roadbook, state: ServerState): FetchHandler {
  const complete = async (request: Request, responding: ReturnType<FetchHandler>) => {
    const response = await responding;
    if (state.isStopping) response.headers.set("connection", "close");
    if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
    return response;
  };
  // Awaiting every response would noticeably slow down requests for profiles.
  return (request, peer) => {
    const response = roadbook.fetch(request, peer);
    const isComplete = !state.isStopping && request.method !== "HEAD";
    return isComplete ? response : complete(request, response);
  };
}

/** Checks for a new snapshot at intervals, and immediately when `now` is called. */
function startReloading(
  config: ServeConfig,
  log: Logger,
  state: ServerState,
  roadbook: Roadbook,
  source: Source | undefined,
) {
  const refresh = async (isForced = false) => {
    try {
      const replacement = await roadbook.refresh(isForced);
      if (!replacement) return;
      state.metrics?.countReplacement("meta" in replacement ? "swapped" : "refused");
      logReplacement(log, replacement);
    } catch (error) {
      log.error({ err: error }, "bug");
    }
  };
  const timer = setInterval(refresh, REFRESH_MS);
  const fetching = source && fetchRepeatedly(source, config.refresh, refresh);
  return {
    now: () => (fetching ? fetching.now() : void refresh(true)),
    stop() {
      clearInterval(timer);
      fetching?.stop();
    },
  };
}

function logStart(config: ServeConfig, log: Logger, roadbook: Roadbook): void {
  const { built_at: builtAt, counts } = roadbook.meta();
  const snapshot = config.location?.name ?? config.snapshot ?? "the bundled data";
  log.info({ version, snapshot, builtAt, counts }, "starting");
  for (const variable of config.unknownVariables) {
    log.warn({ variable }, "unknown environment variable, ignored");
  }
  for (const fault of config.fault) {
    const { faultSeed } = config;
    log.warn({ fault, faultSeed }, "FAULT INJECTION IS ON: this server is for tests only");
  }
}

/** Maps the flags to the library's options. */
function optionsOf(config: ServeConfig): RoadbookOptions {
  const { publicUrl, searchLimit, maxClients, ipv6Prefix, faultSeed, fault } = config;
  const { page, kiosk, allowIndexing, language, trustedProxy: trustedProxies } = config;
  const { title, accent, logo, featured, cacheDir } = config;
  return {
    ...{ publicUrl, searchLimit, maxClients, ipv6Prefix, trustedProxies, faultSeed },
    ...{ page, kiosk, allowIndexing, language, title, accent, logo, featured, cacheDir },
    searchWindow: formatDuration(config.searchWindow),
    kioskIdle: formatDuration(config.kioskIdle),
    cacheMaxAge: String(config.cacheMaxAge),
    // An empty list would permit `setFaults`, at the cost of an extra wait in every request.
    faults: fault.length > 0 ? fault : undefined,
  };
}

/** Opens the source that the snapshot is fetched from, if the snapshot is not a file. */
async function findSource(config: ServeConfig, log: Logger): Promise<Source | undefined> {
  const { location, cacheDir, fetchTimeout: timeoutMs } = config;
  if (!location) return undefined;
  const { openSource } = await import("../snapshot/remote/source.ts");
  const open = () =>
    openSource({
      location,
      folder: cacheDir === undefined ? makeTemporaryFolder() : resolve(cacheDir),
      timeoutMs,
      onDown: (reason) => log.error(`${location.name} ${reason}; serving the old snapshot`),
      onUp: () => log.info(`${location.name} has recovered`),
    });
  return endOnSignal(open, ["SIGINT", "SIGTERM"]);
}

/** Makes a private folder on disk, unlike /tmp, and removes it when the process ends. */
function makeTemporaryFolder(): string {
  const folder = mkdtempSync("/var/tmp/roadbook-");
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Refreshes from the source repeatedly. Each wait is up to a fifth shorter than `refreshMs`, so
 * that servers started together do not send their requests at the same time.
 */
function fetchRepeatedly(source: Source, refreshMs: number, onNew: () => Promise<void>) {
  let timer: Timer | undefined;
  let isStopped = false;
  function schedule(): void {
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(run, refreshMs * (1 - Math.random() / 5));
  }
  async function run(isForced = false): Promise<void> {
    clearTimeout(timer);
    if (await source.refresh(isForced)) await onNew();
    schedule();
  }
  schedule();
  return {
    now: () => void run(true),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Opens the limiter that counts searches in the shared store, if there is one. */
async function openLimiter(config: ServeConfig, log: Logger): Promise<Limiter | undefined> {
  const { rateLimitStore: url, searchLimit: limit, searchWindow: windowMs, maxClients } = config;
  if (url === undefined || limit === 0) return undefined;
  const { openSharedLimiter } = await import("../limit/redis.ts");
  return openSharedLimiter({
    url,
    limit,
    windowMs,
    maxClients,
    onDown: (reason) => log.warn({ reason }, "rate limit store down, counting in memory"),
    onUp: () => log.info("rate limit store up"),
  });
}

/** Logs the route instead of the URL, which may contain a client's search. */
function logAccess(log: Logger, facts: ResponseFacts): void {
  const { requestId, method, route = null, status } = facts;
  const durationMs = Number(facts.durationMs.toFixed(3));
  log.info({ requestId, method, route, status, durationMs, client: facts.client() }, "request");
}

function logReplacement(log: Logger, replacement: Replacement): void {
  if ("meta" in replacement) {
    const { built_at: builtAt, counts } = replacement.meta;
    log.info({ builtAt, counts }, "serving a new snapshot");
    return;
  }
  const { message, isTransient } = replacement.refused;
  log.error(`${message}; serving the old snapshot${isTransient ? ", trying again" : ""}`);
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
}
