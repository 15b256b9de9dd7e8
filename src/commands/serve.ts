/** `roadbook serve`: assembles the server and runs it until SIGTERM or SIGINT. */
import { once } from "node:events";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { version } from "../domain/version.ts";
import { makeTemporaryFolder } from "../files/temporary-folder.ts";
import type { Metrics } from "../http/metrics.ts";
import { openRoadbook } from "../roadbook.ts";
import { type Listener, openListener, readTls } from "../server/listen.ts";
import { createLog, type Log, logRequest } from "../server/log.ts";
import { takeTurns } from "../server/turns.ts";
import { watchCertificate, watchSnapshot } from "../server/watch.ts";
import { UsageError } from "../settings/kinds.ts";
import type { ServeConfig } from "../settings/serve-flags.ts";
import type { RemoteLocation } from "../snapshot/remote/location.ts";
import { demoSnapshot } from "../web/assets.ts";
import { endOnSignal, writeStdout } from "./output.ts";

/** Leaves out the address, because it may be a person's. */
const BEHIND_PROXY =
  "X-Forwarded-For came from an address that is not trusted, so everybody behind that proxy shares one search budget; if the proxy is yours, name its address with --trusted-proxy";

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
    watchSnapshot(server, config.refresh, log);
    announce(server, config, log);
    const [signal] = await stopSignal;
    log.info({ signal }, "stopping");
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
  let isWarned = config.searchLimit === 0;
  const respond = takeTurns({
    clientOf: roadbook.handler.clientOf,
    async fetch(request, peer, isRefused) {
      if (!isWarned && roadbook.handler.hidesClients(request, peer)) {
        isWarned = true;
        log.warn(BEHIND_PROXY);
      }
      const response = await roadbook.handler.fetch(request, peer, isRefused);
      // Bun omits it for HEAD.
      if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
      if (isStopping) response.headers.set("connection", "close");
      return response;
    },
  });
  const listener = await openListener({ host, port, reusePort, flagPrefix: "--" }, respond, tls);
  return {
    roadbook,
    source,
    metrics,
    url: listener.origin,
    adminUrl: admin?.origin,
    /** Finishes the requests in progress, or cuts them off as soon as `isOver` resolves. */
    async stop(isOver: Promise<unknown>): Promise<void> {
      isStopping = true;
      await listener.stop(isOver);
      await admin?.close();
      limiter?.close();
      await roadbook.close();
    },
  };
}

/** Says what is served and where: to programs that wait for the server, and to people. */
function announce({ roadbook, url, adminUrl }: Server, config: ServeConfig, log: Log) {
  const { snapshot = "the bundled data", faults, faultSeed, searchLimit, searchWindow } = config;
  const { built_at: builtAt, counts, featured } = roadbook.meta();
  const name = typeof snapshot === "object" ? snapshot.name : snapshot;
  if (faults) {
    const fault = faults.map(({ text }) => text).join(";") || "none";
    log.warn({ fault, faultSeed }, "FAULT INJECTION IS ON: this server is for tests only");
  }
  if (config.reusePort && config.rateLimitStore === undefined && searchLimit > 0) {
    log.warn("with --reuse-port and no --rate-limit-store, each process allows the whole limit");
  }
  writeStdout(`roadbook listening on ${url}\n`);
  log.info({ version, snapshot: name, builtAt, counts, url, adminUrl }, "ready");
  if (!log.isLevelEnabled("info")) return;
  const window = searchWindow === 3_600_000 ? "an hour" : `in ${searchWindow / 1000} s`;
  const tips = [
    config.noPage || `page   ${url}/`,
    `API    ${url}/users/public/${featured[0] ?? 1}`,
    `docs   ${url}/docs`,
    adminUrl === undefined || `admin  ${adminUrl}/metrics`,
    searchLimit === 0 || `${searchLimit} searches ${window}; --search-limit 0 lifts it`,
  ];
  log.writeToTerminal(tips.map((tip) => (tip === true ? "" : `  ${tip}\n`)).join(""));
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

const nextSignal = () => Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
