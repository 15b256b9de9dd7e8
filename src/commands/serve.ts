/** `roadbook serve`: listens, answers, and stops cleanly. */
import type { Logger } from "pino";
import { demoSnapshot, docsScript } from "../assets.ts";
import { version } from "../domain/version.ts";
import type { Peer, ResponseFacts } from "../http/app.ts";
import type { Limiter } from "../limit/limiter.ts";
import { createLog } from "../log.ts";
import { createRoadbook } from "../roadbook.ts";
import type { Replacement } from "../snapshot/read/reloadable.ts";
import { readTls, type TlsFiles } from "../tls.ts";
import { writeStdout } from "./output.ts";

/** How often is looked whether the file has been replaced: well within the second that is promised. */
const REFRESH_MS = 200;

/** How often the event loop is let round before connections are closed, and how long it may rest. */
const DRAIN_TURNS = 5;
const DRAIN_TURN_MS = 20;

/** The flags of `serve`, checked. */
export interface ServeConfig {
  snapshot?: string | undefined;
  trustSnapshot: boolean;
  publicUrl?: string | undefined;
  cacheMaxAgeSeconds: number;
  searchLimit: number;
  searchWindowMs: number;
  ipv6Prefix: number;
  maxClients: number;
  rateLimitStore: string | undefined;
  host: string;
  port: number;
  /** The paths of certificate and key. */
  tls: { cert: string; key: string } | undefined;
  trustedProxies: string[];
  graceMs: number;
  logLevel: string;
  accessLog: boolean;
  admin: { host: string; port: number } | undefined;
  /** The names of the variables that look like settings and are none. */
  unknownVariables: string[];
}

export async function runServe(config: ServeConfig): Promise<void> {
  const tls = config.tls && readTls(config.tls);
  const log = createLog(config.logLevel);
  const limiter = await openLimiter(config, log);
  // Loaded only where they are wanted: the metrics take 4 ms of the start.
  const operator = config.admin && {
    ...(await import("../http/metrics.ts")),
    ...(await import("../http/admin.ts")),
  };
  const metrics = operator?.createMetrics({
    meta: () => roadbook.meta(),
    limiterStatus: () => roadbook.limiterStatus(),
  });
  const roadbook = await createRoadbook({
    snapshot: config.snapshot ?? (await demoSnapshot()),
    trustSnapshot: config.trustSnapshot,
    publicUrl: config.publicUrl,
    searchLimit: config.searchLimit,
    searchWindowMs: config.searchWindowMs,
    maxClients: config.maxClients,
    limiter,
    trustedProxies: config.trustedProxies,
    ipv6Prefix: config.ipv6Prefix,
    cacheMaxAgeSeconds: config.cacheMaxAgeSeconds,
    docsScript,
    onBug: (error, requestId) => log.error({ err: error, requestId }, "bug"),
    onResponse: (facts) => {
      metrics?.countResponse(facts);
      if (config.accessLog) logAccess(log, facts);
    },
  });
  let isReady = true;
  const admin =
    config.admin &&
    operator &&
    metrics &&
    listen(config.admin, operator.createAdminFetch({ metrics, isReady: () => isReady }));
  const answerSpecially = async (request: Request, peer: Peer) => {
    const response = await roadbook.fetch(request, peer);
    if (!isReady) response.headers.set("connection", "close");
    // Bun dates every answer but those to HEAD.
    if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
    return response;
  };
  const server = listen(
    config,
    (request, peer) =>
      isReady && request.method !== "HEAD"
        ? roadbook.fetch(request, peer)
        : answerSpecially(request, peer),
    tls,
  );
  // Before the ready line: whoever waits for it may send a signal at once.
  const stopped = nextSignal();
  const refresh = async (isForced = false) => {
    try {
      const replacement = await roadbook.refresh(isForced);
      if (!replacement) return;
      metrics?.countReplacement("meta" in replacement ? "swapped" : "refused");
      logReplacement(log, replacement);
    } catch (error) {
      log.error({ err: error }, "bug");
    }
  };
  const onSighup = () => void refresh(true);
  process.on("SIGHUP", onSighup);
  const timer = setInterval(refresh, REFRESH_MS);
  const { built_at: builtAt, counts } = roadbook.meta();
  const snapshot = config.snapshot ?? "the bundled demo";
  log.info({ version, snapshot, builtAt, counts }, "starting");
  for (const variable of config.unknownVariables) {
    log.warn({ variable }, "unknown environment variable, not used");
  }
  if (admin) log.info(`admin listening on ${admin.url.origin}`);
  writeStdout(`roadbook listening on ${server.url.origin}\n`);
  log.info({ url: server.url.origin }, "ready");
  const signal = await stopped;
  isReady = false;
  log.info({ signal }, "stopping");
  // A second signal ends it at once, and so does the end of the grace.
  await Promise.race([drain(server), nextSignal(), Bun.sleep(config.graceMs)]);
  await server.stop(true);
  await admin?.stop(true);
  clearInterval(timer);
  process.off("SIGHUP", onSighup);
  limiter?.close();
  roadbook.close();
  log.info("stopped");
}

/**
 * Answers what the system had taken in before the signal, and only then closes what is idle: closing
 * at once would reset connections whose requests are not yet read.
 */
async function drain(server: Bun.Server<undefined>): Promise<void> {
  for (let turn = 0; turn < DRAIN_TURNS; turn++) await Bun.sleep(DRAIN_TURN_MS);
  await server.stop();
}

/** The shared store, where there is one. */
async function openLimiter(config: ServeConfig, log: Logger): Promise<Limiter | undefined> {
  const { rateLimitStore: url, searchLimit: limit, searchWindowMs: windowMs, maxClients } = config;
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

/** The template of the path, never the path: that may hold what somebody looked for. */
function logAccess(log: Logger, facts: ResponseFacts): void {
  const { requestId, method, route = null, status } = facts;
  const durationMs = Number(facts.durationMs.toFixed(3));
  log.info({ requestId, method, route, status, durationMs, client: facts.client() }, "request");
}

function logReplacement(log: Logger, replacement: Replacement): void {
  if ("meta" in replacement) {
    const { built_at, counts } = replacement.meta;
    log.info({ builtAt: built_at, counts }, "serving a new snapshot");
    return;
  }
  const { message, isPassing } = replacement.refused;
  log.error(`${message}; serving the old snapshot${isPassing ? ", trying again" : ""}`);
}

type Answer = (request: Request, peer: () => string | undefined) => Response | Promise<Response>;

/** Answers on an address. Nothing here reads a body. */
function listen({ host, port }: { host: string; port: number }, answer: Answer, tls?: TlsFiles) {
  try {
    return Bun.serve({
      hostname: host,
      port,
      development: false,
      reusePort: false,
      ...(tls && { tls }),
      maxRequestBodySize: 64 * 1024,
      fetch: (request, server) => answer(request, () => server.requestIP(request)?.address),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot listen on ${host} port ${port}: ${reason}`);
  }
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
}
