/** `roadbook serve`: puts the server together; on SIGTERM or SIGINT finishes open requests and ends. */
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { version } from "../domain/version.ts";
import { discardUnfinished, inTemporaryFolder } from "../files/replace.ts";
import type { FetchHandler } from "../http/app.ts";
import type { Metrics } from "../http/metrics.ts";
import type { ResponseFacts } from "../http/request-context.ts";
import type { Limiter } from "../limit/limiter.ts";
import { formatDuration } from "../options.ts";
import { createRoadbook, type RoadbookOptions } from "../roadbook.ts";
import type { Listener } from "../server/listen.ts";
import { createLog } from "../server/log.ts";
import { openListener } from "../server/open.ts";
import { readTls, type TlsFiles, type TlsPaths } from "../server/tls.ts";
import type { Replacement } from "../snapshot/read/reloadable.ts";
import type { RemoteLocation } from "../snapshot/remote/location.ts";
import type { Source } from "../snapshot/remote/source.ts";
import { endOnSignal, writeStdout } from "./output.ts";
import type { ServeFlags } from "./serve-flags.ts";

/** How often the server looks for a replaced file. It promises to notice within a second. */
const REFRESH_MS = 200;

/** The flags of `serve`, and the settings made of them and the environment. */
interface ServeConfig extends ServeFlags {
  /** Where the snapshot is, if it is not a file. */
  location: RemoteLocation | undefined;
  /** Where searches are counted, if not in this process's memory. */
  storeUrl: string | undefined;
  /** The names of the variables that look like settings but are not. */
  unknownVariables: string[];
}

export async function runServe(config: ServeConfig): Promise<void> {
  // First, as the signal ends the process by default. There is nothing to renew yet.
  process.on("SIGHUP", () => {});
  const log = await createLog(config.logLevel);
  const isFolderWanted = config.location && config.cacheDir === undefined;
  try {
    if (isFolderWanted) await inTemporaryFolder((cacheDir) => serve({ ...config, cacheDir }, log));
    else await serve(config, log);
  } finally {
    discardUnfinished();
    await log.close();
  }
}

/** Serves until SIGTERM or SIGINT, then finishes the open requests. */
async function serve(config: ServeConfig, log: Logger): Promise<void> {
  const { tlsCert: cert, tlsKey: key, adminPort, faultSeed } = config;
  const tlsPaths = cert && key ? { cert, key } : undefined;
  let tls = tlsPaths && readTls(tlsPaths);
  const source = await findSource(config, log);
  const limiter = await openLimiter(config, log);
  const path = source?.path ?? config.snapshot;
  let metrics: Metrics | undefined;
  let unavailable = 0;
  const roadbook = await createRoadbook({
    ...optionsOf(config),
    snapshot: path,
    demo: path === undefined,
    // The source has verified its copy.
    trustSnapshot: config.trustSnapshot || source !== undefined,
    snapshotSource: source?.status,
    limiter,
    onBug: (error, requestId) => log.error({ err: error, requestId }, "bug"),
    onResponse: (facts) => {
      metrics?.countResponse(facts);
      if (facts.status === 503) unavailable++;
      if (config.accessLog && !facts.isSubrequest) logAccess(log, facts);
    },
  });
  let isReady = true;
  let admin: Listener | undefined;
  if (adminPort !== undefined) {
    // Loaded only if needed: the metrics take 4 ms of the start.
    const { createMetrics } = await import("../http/metrics.ts");
    const { createAdminFetch } = await import("../http/admin.ts");
    metrics = createMetrics({ ...roadbook, source: source?.status });
    const respond = createAdminFetch(metrics, () => isReady);
    admin = await openListener(
      { host: config.adminHost, port: adminPort, flagPrefix: "--admin-" },
      respond,
    );
  }
  const complete = async (request: Request, responding: ReturnType<FetchHandler>) => {
    const response = await responding;
    if (!isReady) response.headers.set("connection", "close");
    // Bun dates every response but those to HEAD.
    if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
    return response;
  };
  // Waiting for each response would take 7 % of the time of a profile request.
  const respond: FetchHandler = (request, peer) => {
    const response = roadbook.fetch(request, peer);
    return isReady && request.method !== "HEAD" ? response : complete(request, response);
  };
  const listener = await openListener({ ...config, flagPrefix: "--" }, respond, tls);
  // Before the ready line: a program that waits for it may send a signal at once.
  const stopped = nextSignal();
  const refresh = async (isForced = false) => {
    try {
      const replacement = await roadbook.refresh(isForced);
      if (!replacement) return;
      metrics?.countReplacement("meta" in replacement ? "swapped" : "refused");
      logReplacement(log, replacement, unavailable);
      if ("meta" in replacement) unavailable = 0;
    } catch (error) {
      log.error({ err: error }, "bug");
    }
  };
  const timer = setInterval(refresh, REFRESH_MS);
  const fetching = source && fetchRepeatedly(source, config.refresh, refresh);
  const renew = () => {
    if (fetching) fetching.now();
    else void refresh(true);
    if (tlsPaths && tls) tls = renewTls(tlsPaths, tls, listener, log);
  };
  process.on("SIGHUP", renew);
  const { built_at: builtAt, counts } = roadbook.meta();
  const snapshot = config.location?.name ?? config.snapshot ?? "the bundled data";
  log.info({ version, snapshot, builtAt, counts }, "starting");
  for (const variable of config.unknownVariables) {
    log.warn({ variable }, "unknown environment variable, not used");
  }
  for (const fault of config.fault) {
    log.warn({ fault, faultSeed }, "FAULTS ON PURPOSE: this server is for tests only");
  }
  if (admin) log.info(`admin listening on ${admin.origin}`);
  writeStdout(`roadbook listening on ${listener.origin}\n`);
  log.info({ url: listener.origin }, "ready");
  const signal = await stopped;
  isReady = false;
  process.off("SIGHUP", renew);
  log.info({ signal }, "stopping");
  // Finishes the open requests. A second signal ends it at once, and so does the end of --grace.
  await Promise.race([listener.drain(), nextSignal(), sleep(config.grace)]);
  await Promise.all([listener.close(), admin?.close()]);
  clearInterval(timer);
  fetching?.stop();
  limiter?.close();
  roadbook.close();
  log.info("stopped");
}

/** The flags that are options of the library. */
function optionsOf(config: ServeConfig): RoadbookOptions {
  const { publicUrl, searchLimit, maxClients, ipv6Prefix, faultSeed, fault } = config;
  const { page, kiosk, index, language, trustedProxy: trustedProxies } = config;
  const { title, accent, logo, featured } = config;
  return {
    ...{ publicUrl, searchLimit, maxClients, ipv6Prefix, trustedProxies, faultSeed },
    ...{ page, kiosk, index, language, title, accent, logo, featured },
    searchWindow: formatDuration(config.searchWindow),
    kioskIdle: formatDuration(config.kioskIdle),
    cacheMaxAge: String(config.cacheMaxAge),
    // An empty list could be changed later, at the cost of a wait in every request.
    faults: fault.length > 0 ? fault : undefined,
  };
}

/** Takes a renewed certificate for new connections; a bad one is logged and the old one stays. */
function renewTls(paths: TlsPaths, old: TlsFiles, listener: Listener, log: Logger): TlsFiles {
  try {
    const files = readTls(paths);
    if (files.cert.equals(old.cert) && files.key.equals(old.key)) return old;
    listener.renewTls(files);
    log.info("using the new certificate");
    return files;
  } catch (error) {
    log.error(`${error instanceof Error ? error.message : error}; using the old certificate`);
    return old;
  }
}

/** The source of the snapshot, if it is not a file. */
async function findSource(config: ServeConfig, log: Logger): Promise<Source | undefined> {
  const { location, cacheDir, fetchTimeout: timeoutMs, allowOlder } = config;
  if (!location || cacheDir === undefined) return undefined;
  const { openSource } = await import("../snapshot/remote/source.ts");
  const open = () =>
    openSource({
      location,
      cacheFolder: resolve(cacheDir),
      timeoutMs,
      allowOlder,
      onDown: (reason) => log.error(`${location.name} ${reason}; serving the old snapshot`),
      onUp: () => log.info(`${location.name} is well again`),
    });
  return endOnSignal(open, ["SIGINT", "SIGTERM"]);
}

/**
 * Asks the source repeatedly, each time up to a fifth sooner than `refreshMs`, so that a fleet that was
 * started at the same moment does not ask at the same moment.
 */
function fetchRepeatedly(source: Source, refreshMs: number, onNew: () => Promise<void>) {
  let timer: Timer | undefined;
  let isStopped = false;
  function wait(): void {
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(ask, refreshMs * (1 - Math.random() / 5));
  }
  async function ask(isForced = false): Promise<void> {
    clearTimeout(timer);
    if (await source.refresh(isForced)) await onNew();
    wait();
  }
  wait();
  return {
    now: () => void ask(true),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** The limiter that counts in the shared store, if there is one. */
async function openLimiter(config: ServeConfig, log: Logger): Promise<Limiter | undefined> {
  const { storeUrl: url, searchLimit: limit, searchWindow: windowMs, maxClients } = config;
  if (url === undefined || limit === 0) return undefined;
  const { openSharedLimiter } = await import("../limit/redis.ts");
  return openSharedLimiter({
    url,
    limit,
    windowMs,
    maxClients,
    onDown: (reason) => log.warn({ reason }, "rate limit store down, counting in memory"),
    onUp: () => log.info("rate limit store up"),
    onWarning: (message) => log.warn(message),
  });
}

/** Logs the template of the path, never the path: that may contain a client's search. */
function logAccess(log: Logger, facts: ResponseFacts): void {
  const { requestId, method, route = null, status } = facts;
  const durationMs = Number(facts.durationMs.toFixed(3));
  log.info({ requestId, method, route, status, durationMs, client: facts.client() }, "request");
}

/** `unavailable` is the number of 503 responses since the last new snapshot. */
function logReplacement(log: Logger, replacement: Replacement, unavailable: number): void {
  if ("meta" in replacement) {
    const { built_at: builtAt, counts } = replacement.meta;
    const facts = { builtAt, counts, ...(unavailable > 0 && { unavailable }) };
    log.info(facts, "serving a new snapshot");
    return;
  }
  const { refused, isSpoiled } = replacement;
  const outcome = isSpoiled
    ? "responding with 503 until a good file is there"
    : "serving the old snapshot";
  const retrying = refused.isTransient && !isSpoiled ? ", trying again" : "";
  log.error(`${refused.message}; ${outcome}${retrying}`);
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
}
