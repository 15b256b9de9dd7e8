/** `roadbook serve`: assembles the server and runs it until SIGTERM or SIGINT. */
import type { Logger } from "pino";
import { MAX_BYTES_IN_MEMORY } from "../domain/limits.ts";
import { version } from "../domain/version.ts";
import { reasonOf } from "../files/errors.ts";
import { makeTemporaryFolder } from "../files/temporary-folder.ts";
import { createAdminFetch, METRICS_PATH } from "../http/admin.ts";
import { endpoints } from "../http/endpoints.ts";
import type { ResponseFacts } from "../http/hooks.ts";
import type { Metrics } from "../http/metrics.ts";
import { openLimiter } from "../limit/open-limiter.ts";
import { type OpenRoadbook, openRoadbook } from "../roadbook.ts";
import { CertificateWatcher, readTls } from "../server/certificate.ts";
import { type Listener, openListener } from "../server/listen.ts";
import { createLog, type Log, logRequest } from "../server/log.ts";
import { notifyReady } from "../server/notify.ts";
import { addServerHeaders } from "../server/server-headers.ts";
import { type Stoppable, stopOnSignal } from "../server/shutdown.ts";
import { takeTurns } from "../server/turns.ts";
import { OpenFilesWatcher } from "../server/watch-open-files.ts";
import { SnapshotWatcher } from "../server/watch-snapshot.ts";
import type { ServeValues } from "../settings/serve-flags.ts";
import { UsageError } from "../settings/usage-error.ts";
import { demoSnapshot } from "../web/assets.ts";
import { DOCS_PATH } from "../web/page-paths.ts";
import { warnAboutFlags, warnAboutProxy } from "./flag-warnings.ts";
import { endOnSignal } from "./signals.ts";
import { writeStdout } from "./stdout.ts";

const HOUR_MS = 3_600_000;

/** `unknownVariables` look like settings, but are not. */
export async function runServe(values: ServeValues, unknownVariables: string[]): Promise<void> {
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined)) {
    throw new UsageError("--tls-cert and --tls-key must be given together");
  }
  if (values.kiosk && values.noPage) {
    throw new UsageError("--kiosk and --no-page are mutually exclusive");
  }
  let server: RunningServer | undefined;
  // From the beginning, because without a handler, SIGHUP would end the process.
  process.on("SIGHUP", () => server?.snapshotWatcher.reload());

  const log = createLog(values.logLevel, process.env.JOURNAL_STREAM);
  for (const variable of unknownVariables) {
    log.warn({ variable }, "unknown environment variable, ignored");
  }

  try {
    server = await openServer(values, log);
    // Called before the ready line, because programs may send a signal as soon as they read it.
    const stopped = stopOnSignal(server, values.shutdownTimeout, log);
    warnAboutFlags(values, server.roadbook.isPublic, log);
    announce(server, values, log);
    if (process.env.NOTIFY_SOCKET) void reportReady(log);
    await stopped;
  } finally {
    await log.close();
  }
}

interface RunningServer extends Stoppable {
  roadbook: OpenRoadbook;
  snapshotWatcher: SnapshotWatcher;
  url: string;
  adminUrl: string | undefined;
}

/** Opens what is served and the ports, and begins to watch what can change. */
async function openServer(values: ServeValues, log: Logger): Promise<RunningServer> {
  const { host, port, reusePort, tlsCert: cert, tlsKey: key } = values;
  const tls = cert && key ? readTls({ cert, key }) : undefined;
  const metrics = values.adminPort === undefined ? undefined : await openMetrics();
  const { roadbook, remote } = await openServed(values, metrics, log);
  if (values.cacheDir !== undefined) tryCacheFolder(values.cacheDir, log);

  const certificate = tls && new CertificateWatcher(tls.cert, log);
  metrics?.addGauges({ roadbook, remote, certificateEnd: certificate?.end });

  const stopping = new AbortController();
  const { signal } = stopping;
  const admin = metrics && (await openAdmin(values, { roadbook, metrics, stopping: signal }));
  const { fetch, refuse, clientOf, isToApi } = roadbook.handler;
  const respond = takeTurns({
    fetch: addServerHeaders(fetch, signal),
    refuse: addServerHeaders(refuse, signal),
    clientOf,
    isToApi,
  });
  const listener = await openListener({ host, port, reusePort, flagPrefix: "--" }, respond, tls);

  const watched = { roadbook, remote, metrics };
  const snapshotWatcher = new SnapshotWatcher(watched, values.refresh, log);
  const watchers = [snapshotWatcher, new OpenFilesWatcher(log), certificate];

  return {
    roadbook,
    snapshotWatcher,
    url: listener.origin,
    adminUrl: admin?.origin,
    async stop(isOver) {
      stopping.abort();
      for (const watcher of watchers) watcher?.[Symbol.dispose]();
      await listener.stop(isOver);
      await admin?.close();
      await roadbook.close();
      remote?.[Symbol.dispose]();
    },
  };
}

/** Opens the snapshot and the limiter. */
async function openServed(values: ServeValues, metrics: Metrics | undefined, log: Logger) {
  const { path, remote } = await locateSnapshot(values, log);
  const snapshot = path ?? (await demoSnapshot());
  const limiter = await openLimiter(values, {
    onDown: (reason) => log.warn({ reason }, "rate limit store down, counting in memory"),
    onUp: () => log.info("rate limit store up"),
  });

  const options = {
    ...values,
    page: !values.noPage,
    // Nobody shares a budget if nothing is counted.
    onUntrustedProxy: values.searchLimit > 0 ? () => warnAboutProxy(log) : undefined,
    onBug: (error: unknown, requestId: string) => log.error({ err: error, requestId }, "bug"),
    onResponse(facts: ResponseFacts) {
      metrics?.countResponse(facts);
      if (values.accessLog) logRequest(log, facts);
    },
  };
  return { roadbook: await openRoadbook(options, { snapshot, remote, limiter }), remote };
}

/** Returns the path of the snapshot, or of the copy of a remote one. Without one, it is the demo. */
async function locateSnapshot({ snapshot, cacheDir, fetchTimeout }: ServeValues, log: Logger) {
  if (typeof snapshot !== "object") return { path: snapshot, remote: undefined };
  const { RemoteSnapshot } = await import("../snapshot/remote/remote-snapshot.ts");

  const options = {
    location: snapshot,
    folder: cacheDir ?? makeTemporaryFolder().folder,
    timeoutMs: fetchTimeout,
    onDown: (detail: string) => log.error(`${snapshot.name} ${detail}; serving the old snapshot`),
    onUp: () => log.info(`${snapshot.name} has recovered`),
  };

  const open = () => RemoteSnapshot.open(options);
  const remote = await endOnSignal(open, { signals: ["SIGINT", "SIGTERM"] });
  return { path: remote.path, remote };
}

/**
 * Warns now if the folder cannot be used, because only a later snapshot may be large enough to need
 * it. Otherwise, what killed servers have left there is removed.
 */
function tryCacheFolder(folder: string, log: Logger): void {
  try {
    using _ = makeTemporaryFolder(folder);
  } catch (error) {
    const size = `${MAX_BYTES_IN_MEMORY / 1e6} MB`;
    const problem = `${folder}: ${reasonOf(error)}`;
    log.warn(
      `--cache-dir cannot be used, so no snapshot of over ${size} can be served: ${problem}`,
    );
  }
}

/** Imported only if needed, because the metrics slow down startup. */
async function openMetrics(): Promise<Metrics> {
  const { Metrics } = await import("../http/metrics.ts");
  return new Metrics();
}

interface Administered {
  roadbook: OpenRoadbook;
  metrics: Metrics;
  stopping: AbortSignal;
}

async function openAdmin(
  { adminPort: port = 0, adminHost: host, faults }: ServeValues,
  { roadbook, metrics, stopping }: Administered,
): Promise<Listener> {
  const isReady = () => !stopping.aborted;
  const respond = createAdminFetch({ host, metrics, isReady, rig: faults && roadbook });
  return openListener({ host, port, flagPrefix: "--admin-" }, respond);
}

/** systemd sets NOTIFY_SOCKET if it waits for this. */
async function reportReady(log: Logger): Promise<void> {
  const problem = await notifyReady();
  const advice = "it will take the start for failed; use Type=exec";
  if (problem) log.warn(`cannot tell systemd that the server is ready: ${problem}; ${advice}`);
}

/** Says what is served and where: to programs that wait for the server, and to people. */
function announce({ roadbook, url, adminUrl }: RunningServer, values: ServeValues, log: Log) {
  const { snapshot = "the bundled data", searchLimit, searchWindow } = values;
  const { built_at: builtAt, counts, featured } = roadbook.meta();
  const name = typeof snapshot === "object" ? snapshot.name : snapshot;

  writeStdout(`roadbook listening on ${url}\n`);
  log.info({ version, snapshot: name, builtAt, counts, url, adminUrl }, "ready");
  if (!log.isLevelEnabled("info")) return;

  const window = searchWindow === HOUR_MS ? "an hour" : `in ${searchWindow / 1000} s`;
  const profilePath = endpoints.getPublicUser.path.replace(":userId", String(featured[0] ?? 1));
  const tips = [`API    ${url}${profilePath}`, `docs   ${url}${DOCS_PATH}`];
  if (!values.noPage) tips.unshift(`page   ${url}/`);
  if (adminUrl !== undefined) tips.push(`admin  ${adminUrl}${METRICS_PATH}`);
  if (searchLimit > 0) tips.push(`${searchLimit} searches ${window}; --search-limit 0 lifts it`);
  log.writeToTerminal(tips.map((tip) => `  ${tip}\n`).join(""));
}
