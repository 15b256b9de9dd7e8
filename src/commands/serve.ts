/** `roadbook serve`: assembles the server and runs it until SIGTERM or SIGINT. */
import { X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { version } from "../domain/api.ts";
import { makeTemporaryFolder } from "../files/temporary-folder.ts";
import type { Metrics } from "../http/metrics.ts";
import { openRoadbook } from "../roadbook.ts";
import { type Listener, openListener, readTls } from "../server/listen.ts";
import { createLog, type Log, logRequest } from "../server/log.ts";
import { takeTurns } from "../server/turns.ts";
import type { Values } from "../settings/declare.ts";
import { UsageError } from "../settings/kinds.ts";
import type { serveSettings } from "../settings/serve-flags.ts";
import type { RemoteLocation } from "../snapshot/remote/location.ts";
import type { Source } from "../snapshot/remote/source.ts";
import { demoSnapshot } from "../web/assets.ts";
import { endOnSignal, writeStdout } from "./output.ts";

/** How often to look for a new snapshot file. */
const REFRESH_MS = 200;
/** When to retry after a temporary failure. Each further retry waits twice as long. */
const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
const DAY_MS = 86_400_000;

/** Leaves out the address, because it may be a person's. */
const BEHIND_PROXY =
  "X-Forwarded-For came from an address that is not trusted, so everybody behind that proxy shares one search budget; if the proxy is yours, name its address with --trusted-proxy";

type ServeConfig = Values<typeof serveSettings>;

/** Serves until SIGTERM or SIGINT. `unknownVariables` look like settings, but are not. */
export async function runServe(
  config: ServeConfig,
  unknownVariables: string[],
  journal: string | undefined,
): Promise<void> {
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    throw new UsageError("--tls-cert and --tls-key must be given together");
  }
  // Without a handler, SIGHUP would end the process. There is nothing to reload yet.
  process.on("SIGHUP", () => {});
  const log = createLog(config.logLevel, journal);
  for (const variable of unknownVariables) {
    log.warn({ variable }, "unknown environment variable, ignored");
  }
  try {
    const server = await openServer(config, log);
    // Called before the ready line, because programs may send a signal as soon as they read it.
    const stopSignal = nextSignal();
    watchSnapshot(server, config, log);
    announce(server, config, log);
    log.info({ signal: await stopSignal }, "stopping");
    // A second signal or the timeout cuts off requests that are still in progress.
    await server.stop(Promise.race([nextSignal(), sleep(config.shutdownTimeout)]));
    log.info("stopped");
  } finally {
    await log.close();
  }
}

type Server = Awaited<ReturnType<typeof openServer>>;

/** Opens the snapshot, the limiter and the ports. */
async function openServer(config: ServeConfig, log: Logger) {
  const { host, port, reusePort, adminHost, adminPort, tlsCert: cert, tlsKey: key } = config;
  const { snapshot, cacheDir } = config;
  const tls = cert && key ? readTls({ cert, key }) : undefined;
  const certificateEnd = tls && watchCertificate(tls.cert, log);
  const source = typeof snapshot === "object" ? await openRemote(snapshot, config, log) : undefined;
  const path = typeof snapshot === "object" ? source?.path : snapshot;
  const limiter = await openLimiter(config, log);
  let metrics: Metrics | undefined;
  let isStopping = false;
  const roadbook = await openRoadbook({
    snapshot: { data: path ?? (await demoSnapshot()), cacheDir, source },
    responses: config,
    page: config,
    hasPage: !config.noPage,
    limit: config,
    sharedLimiter: limiter,
    faults: config,
    events: {
      onBug: (error, requestId) => log.error({ err: error, requestId }, "bug"),
      onResponse(facts) {
        metrics?.countResponse(facts);
        if (config.accessLog) logRequest(log, facts);
      },
    },
  });
  let admin: Listener | undefined;
  if (adminPort !== undefined) {
    // Imported only if needed, because the metrics slow down startup.
    const { createMetrics } = await import("../http/metrics.ts");
    const { createAdminFetch } = await import("../http/admin.ts");
    metrics = createMetrics({ ...roadbook, source: source?.status, certificateEnd });
    const rig = config.faults && roadbook;
    const isReady = () => !isStopping;
    const respond = createAdminFetch({ host: adminHost, metrics, isReady, rig });
    const address = { host: adminHost, port: adminPort, flagPrefix: "--admin-" } as const;
    admin = await openListener(address, respond);
  }
  const { door } = roadbook;
  let isWarned = config.searchLimit === 0;
  const respond = takeTurns({
    clientOf: door.clientOf,
    async fetch(request, peer, isRefused) {
      if (!isWarned && door.hidesClients(request, peer)) {
        isWarned = true;
        log.warn(BEHIND_PROXY);
      }
      const response = await door.fetch(request, peer, isRefused);
      // Bun omits it for HEAD.
      if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
      if (isStopping) response.headers.set("connection", "close");
      return response;
    },
  });
  const address = { host, port, reusePort, flagPrefix: "--" } as const;
  const listener = await openListener(address, respond, tls);
  return {
    roadbook,
    source,
    metrics,
    origin: listener.origin,
    adminOrigin: admin?.origin,
    /** Finishes the requests in progress, or cuts them off as soon as `isOver` resolves. */
    async stop(isOver: Promise<unknown>): Promise<void> {
      isStopping = true;
      await Promise.race([listener.drain(), isOver]);
      await Promise.all([listener.close(), admin?.close()]);
      limiter?.close();
      await roadbook.close();
    },
  };
}

/** Looks for a new snapshot regularly and on SIGHUP, and switches to it. */
function watchSnapshot({ roadbook, source, metrics }: Server, config: ServeConfig, log: Logger) {
  let [waitMs, retryAtMs] = [RETRY_MS, Number.POSITIVE_INFINITY];
  const retryAfter = (ms: number) => {
    waitMs = Math.min(ms, MAX_RETRY_MS);
    retryAtMs = performance.now() + waitMs;
  };
  const refresh = async (isForced: boolean) => {
    try {
      const isRetry = performance.now() >= retryAtMs;
      if (isRetry) retryAfter(2 * waitMs);
      const replacement = await roadbook.refresh(isForced || isRetry);
      if (!replacement) return;
      retryAtMs = Number.POSITIVE_INFINITY;
      if ("meta" in replacement) {
        const { built_at: builtAt, counts } = replacement.meta;
        metrics?.countReplacement("swapped");
        log.info({ builtAt, counts }, "serving a new snapshot");
      } else {
        metrics?.countReplacement("refused");
        log.error(`${replacement.refused.message}; serving the old snapshot`);
        if (replacement.refused.isTransient) retryAfter(RETRY_MS);
      }
    } catch (error) {
      log.error({ err: error }, "bug");
    }
  };
  setInterval(refresh, REFRESH_MS, false);
  process.on("SIGHUP", () => Promise.all([source?.refresh(), refresh(true)]));
  if (source) void keepFetching(source, config.refresh);
}

/** Warns every day from 14 days before the certificate expires. Returns that time in seconds. */
function watchCertificate(cert: Buffer, log: Logger): number {
  const end = new Date(new X509Certificate(cert).validTo);
  const warn = () => {
    if (end.getTime() - Date.now() > 14 * DAY_MS) return;
    log.warn(`the TLS certificate expires on ${end.toISOString()}; renew it and restart`);
  };
  warn();
  setInterval(warn, DAY_MS);
  return end.getTime() / 1000;
}

/** Says what is served and where: to programs that wait for the server, and to people. */
function announce({ roadbook, origin, adminOrigin }: Server, config: ServeConfig, log: Log) {
  const { snapshot = "the bundled data", faults, faultSeed, searchLimit, searchWindow } = config;
  const { built_at: builtAt, counts, featured } = roadbook.meta();
  const name = typeof snapshot === "object" ? snapshot.name : snapshot;
  for (const fault of faults?.length === 0 ? ["none"] : (faults ?? []).map(({ text }) => text)) {
    log.warn({ fault, faultSeed }, "FAULT INJECTION IS ON: this server is for tests only");
  }
  if (config.reusePort && config.rateLimitStore === undefined && searchLimit > 0) {
    log.warn("with --reuse-port and no --rate-limit-store, each process allows the whole limit");
  }
  writeStdout(`roadbook listening on ${origin}\n`);
  const urls = { url: origin, adminUrl: adminOrigin };
  log.info({ version, snapshot: name, builtAt, counts, ...urls }, "ready");
  if (!log.isLevelEnabled("info")) return;
  const window = searchWindow === 3_600_000 ? "an hour" : `in ${searchWindow / 1000} s`;
  const tips = [
    config.noPage || `page   ${origin}/`,
    `API    ${origin}/users/public/${featured[0] ?? 1}`,
    `docs   ${origin}/docs`,
    adminOrigin === undefined || `admin  ${adminOrigin}/metrics`,
    searchLimit === 0 || `${searchLimit} searches ${window}; --search-limit 0 lifts it`,
  ];
  const shown = tips.filter((tip) => tip !== true);
  log.writeToTerminal(shown.map((tip) => `  ${tip}\n`).join(""));
}

async function keepFetching(source: Source, refreshMs: number): Promise<never> {
  for (;;) {
    // Servers that were started together must not send their requests at the same time.
    await sleep(refreshMs * (1 - Math.random() / 5));
    await source.refresh();
  }
}

async function openRemote(location: RemoteLocation, config: ServeConfig, log: Logger) {
  const { openSource } = await import("../snapshot/remote/source.ts");
  const options = {
    location,
    folder: config.cacheDir === undefined ? makeTemporaryFolder().folder : resolve(config.cacheDir),
    timeoutMs: config.fetchTimeout,
    onDown: (reason: string) => log.error(`${location.name} ${reason}; serving the old snapshot`),
    onUp: () => log.info(`${location.name} has recovered`),
  };
  return endOnSignal(() => openSource(options), ["SIGINT", "SIGTERM"]);
}

/** Returns undefined if searches are counted in memory, or not at all. */
async function openLimiter(config: ServeConfig, log: Logger) {
  const { rateLimitStore: url, searchLimit: limit, searchWindow: windowMs, maxClients } = config;
  if (url === undefined || limit === 0) return undefined;
  const { openSharedLimiter } = await import("../limit/redis.ts");
  return openSharedLimiter({
    ...{ url, limit, windowMs, maxClients },
    onDown: (reason) => log.warn({ reason }, "rate limit store down, counting in memory"),
    onUp: () => log.info("rate limit store up"),
  });
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
}
