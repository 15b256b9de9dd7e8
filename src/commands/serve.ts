/** `roadbook serve`: assembles the server and runs it until SIGTERM or SIGINT. */
import { mkdtempSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { version } from "../domain/version.ts";
import { UsageError } from "../flag-kinds.ts";
import type { FetchHandler } from "../http/app.ts";
import type { Metrics } from "../http/metrics.ts";
import type { Limiter } from "../limit/limiter.ts";
import { openRoadbook } from "../roadbook.ts";
import type { serveSettings, Values } from "../serve-flags.ts";
import { type Listener, openListener } from "../server/listen.ts";
import { createLog } from "../server/log.ts";
import { readTls } from "../server/tls.ts";
import type { Replacement } from "../snapshot/read/reloadable.ts";
import type { RemoteLocation } from "../snapshot/remote/location.ts";
import type { Source } from "../snapshot/remote/source.ts";
import { endOnSignal, writeStdout } from "./output.ts";

/** How often to look for a new snapshot file, which must be served within a second. */
const REFRESH_MS = 200;

type ServeConfig = Values<typeof serveSettings>;

/** `unknownVariables` look like settings but are not. They are reported in the log. */
export async function runServe(config: ServeConfig, unknownVariables: string[]): Promise<void> {
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    throw new UsageError("--tls-cert and --tls-key must be given together");
  }
  if (config.kiosk && !config.page) {
    throw new UsageError("--kiosk and --no-page are mutually exclusive");
  }
  if (config.reusePort && process.platform !== "linux") {
    throw new UsageError("--reuse-port works only on Linux");
  }
  // Without a handler, SIGHUP would end the process. There is nothing to reload yet.
  process.on("SIGHUP", () => {});
  const log = await createLog(config.logLevel);
  await serve(config, log, unknownVariables).finally(() => log.close());
}

/** Serves until SIGTERM or SIGINT, then finishes the requests in progress. */
async function serve(config: ServeConfig, log: Logger, unknownVariables: string[]): Promise<void> {
  const { tlsCert: cert, tlsKey: key, snapshot, adminHost, adminPort } = config;
  const tls = cert && key ? readTls({ cert, key }) : undefined;
  const isRemote = typeof snapshot === "object";
  const source = isRemote ? await openRemote(snapshot, config, log) : undefined;
  const path = isRemote ? source?.path : snapshot;
  const limiter = await openLimiter(config, log);
  let metrics: Metrics | undefined;
  let isStopping = false;
  const roadbook = await openRoadbook({
    ...config,
    snapshot: path,
    demo: path === undefined,
    snapshotSource: source?.status,
    limiter,
    onBug: (error, requestId) => log.error({ err: error, requestId }, "bug"),
    onResponse(facts) {
      metrics?.countResponse(facts);
      if (!config.accessLog) return;
      // The route instead of the URL, which may contain a client's search.
      const { requestId, method, route = null, status } = facts;
      const durationMs = Number(facts.durationMs.toFixed(3));
      log.info({ requestId, method, route, status, durationMs, client: facts.client() }, "request");
    },
  });
  let admin: Listener | undefined;
  if (adminPort !== undefined) {
    // Imported only if needed, because the metrics slow down startup.
    const { createMetrics } = await import("../http/metrics.ts");
    const { createAdminFetch } = await import("../http/admin.ts");
    metrics = createMetrics({ ...roadbook, source: source?.status });
    const rig = config.faults && roadbook;
    const respond = createAdminFetch({ metrics, isReady: () => !isStopping, rig });
    const address = { host: adminHost, port: adminPort, flagPrefix: "--admin-" } as const;
    admin = await openListener(address, respond);
  }
  const respond = createRespond(roadbook.fetch, () => isStopping);
  const listener = await openListener({ ...config, flagPrefix: "--" }, respond, tls);
  // Called before the ready line, because programs may send a signal as soon as they read it.
  const stopSignal = nextSignal();
  const refresh = async (isForced: boolean) => {
    try {
      const replacement = await roadbook.refresh(isForced);
      if (!replacement) return;
      metrics?.countReplacement("meta" in replacement ? "swapped" : "refused");
      logReplacement(log, replacement);
    } catch (error) {
      log.error({ err: error }, "bug");
    }
  };
  startReloading(refresh, source, config.refresh);
  const { built_at: builtAt, counts } = roadbook.meta();
  const name = isRemote ? snapshot.name : (snapshot ?? "the bundled data");
  log.info({ version, snapshot: name, builtAt, counts }, "starting");
  for (const variable of unknownVariables) {
    log.warn({ variable }, "unknown environment variable, ignored");
  }
  const { faults, faultSeed } = config;
  for (const fault of faults?.length === 0 ? ["none"] : (faults ?? [])) {
    log.warn({ fault, faultSeed }, "FAULT INJECTION IS ON: this server is for tests only");
  }
  if (admin) log.info(`admin listening on ${admin.origin}`);
  writeStdout(`roadbook listening on ${listener.origin}\n`);
  log.info({ url: listener.origin }, "ready");

  const signal = await stopSignal;
  isStopping = true;
  log.info({ signal }, "stopping");
  // A second signal or the timeout cuts off requests that are still in progress.
  await Promise.race([listener.drain(), nextSignal(), sleep(config.shutdownTimeout)]);
  await Promise.all([listener.close(), admin?.close()]);
  limiter?.close();
  await roadbook.close();
  log.info("stopped");
}

/** Adds `Connection: close` during shutdown, and adds the `Date` that Bun omits for HEAD. */
function createRespond(handle: FetchHandler, isStopping: () => boolean): FetchHandler {
  const complete = async (request: Request, responding: ReturnType<FetchHandler>) => {
    const response = await responding;
    if (isStopping()) response.headers.set("connection", "close");
    if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
    return response;
  };
  return (request, peer) => {
    const response = handle(request, peer);
    // Awaiting every response would noticeably slow down requests for profiles.
    return isStopping() || request.method === "HEAD" ? complete(request, response) : response;
  };
}

/** Looks for a new snapshot at intervals, and immediately on SIGHUP, until the process ends. */
function startReloading(
  refresh: (isForced: boolean) => Promise<void>,
  source: Source | undefined,
  refreshMs: number,
): void {
  setInterval(refresh, REFRESH_MS, false);
  if (!source) return void process.on("SIGHUP", () => refresh(true));
  let timer: Timer | undefined;
  async function fetchNow(): Promise<void> {
    clearTimeout(timer);
    if (await source?.refresh()) await refresh(false);
    fetchLater();
  }
  function fetchLater(): void {
    clearTimeout(timer);
    // Servers that were started together must not send their requests at the same time.
    timer = setTimeout(fetchNow, refreshMs * (1 - Math.random() / 5));
  }
  process.on("SIGHUP", fetchNow);
  fetchLater();
}

/** Opens the source of a snapshot on another machine. */
async function openRemote(
  location: RemoteLocation,
  { cacheDir, fetchTimeout: timeoutMs }: ServeConfig,
  log: Logger,
): Promise<Source> {
  const { openSource } = await import("../snapshot/remote/source.ts");
  const options = {
    location,
    folder: cacheDir === undefined ? makeTemporaryFolder() : resolve(cacheDir),
    timeoutMs,
    onDown: (reason: string) => log.error(`${location.name} ${reason}; serving the old snapshot`),
    onUp: () => log.info(`${location.name} has recovered`),
  };
  return endOnSignal(() => openSource(options), ["SIGINT", "SIGTERM"]);
}

/** Makes a private folder on disk, unlike /tmp, and removes it when the process ends. */
function makeTemporaryFolder(): string {
  const folder = mkdtempSync("/var/tmp/roadbook-");
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens the limiter that counts searches in the shared store, if there is one. */
async function openLimiter(config: ServeConfig, log: Logger): Promise<Limiter | undefined> {
  const { rateLimitStore: url, searchLimit: limit, searchWindow: windowMs, maxClients } = config;
  if (url === undefined || limit === 0) return undefined;
  const { openSharedLimiter } = await import("../limit/redis.ts");
  return openSharedLimiter({
    ...{ url, limit, windowMs, maxClients },
    onDown: (reason) => log.warn({ reason }, "rate limit store down, counting in memory"),
    onUp: () => log.info("rate limit store up"),
  });
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
