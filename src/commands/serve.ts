/** `roadbook serve`: assembles the server and runs it until SIGTERM or SIGINT. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { UsageError } from "../domain/invalid-value.ts";
import { paragraph } from "../domain/text.ts";
import { MAX_DURATION_DAYS } from "../domain/time.ts";
import { reasonOf } from "../files/errors.ts";
import { makeTemporaryFolder, removeLeftovers } from "../files/lock.ts";
import type { StoreOptions } from "../limit/shared-limiter.ts";
import { demoSnapshot, openLimiter, openRoadbook } from "../roadbook.ts";
import { createAdminFetch } from "../server/admin.ts";
import {
  IDLE_TIMEOUT_MS,
  openListener,
  type PortOptions,
  PROXIED_IDLE_TIMEOUT_MS,
} from "../server/listen.ts";
import { createLog, type Log, logRequest } from "../server/log.ts";
import { createRecorder } from "../server/recorder.ts";
import { takeTurns } from "../server/turns.ts";
import { watchSnapshot } from "../server/watch-snapshot.ts";
import { type ServeValues, serveSettings } from "../settings/serve-flags.ts";
import { type Setting, variableOf } from "../settings/setting.ts";
import { isSnapshot } from "../snapshot/format/layout.ts";
import type { RemoteLocation } from "../snapshot/remote/location.ts";
import type { RemoteSnapshot } from "../snapshot/remote/remote-snapshot.ts";
import { type Commands, command } from "./command.ts";
import type { ImportedData } from "./serve-data.ts";
import { announce, warnAboutFlags, warnAboutSharedBudget } from "./serve-messages.ts";
import { endOnSignal, nextSignal, STOPPING } from "./terminal.ts";

export const serveCommand = command({
  settings: serveSettings,
  notes: [
    paragraph(
      "If a flag for a single value is given twice, the last one wins.",
      "In an environment variable, separate multiple values with commas, or with semicolons in",
      "ROADBOOK_LINK and ROADBOOK_FAULT.",
    ),
    paragraph(
      "While --data imports again, requests may wait, a second or more with over 10,000 users.",
      "For data that changes while people use the server, run roadbook import, and serve its file",
      "with --snapshot.",
    ),
    paragraph(
      "A TIME is a whole number of seconds, or a number with a unit, up to",
      `${MAX_DURATION_DAYS} days: 500ms, 10s, 5m, 1h, 1d.`,
    ),
    paragraph(
      "A FAULT is a target, a colon and a comma-separated list.",
      "The target is search (or only users or companies), profile or achievements (of one user:",
      "profile/42), health, or * for all but health.",
      "The list has status=503 (respond with this error), close (close the connection without a",
      "response; HEAD gets a 500), truncate (send half of the body), garbage (a body that is not",
      "JSON) or delay=200ms (respond later; delay=50ms-2s varies); delay may be combined with",
      "one of the others.",
      "It may also have rate=0.1 (affect only this share of the requests) and times=2 (stop",
      "after two requests).",
      "With --fault none, nothing fails yet.",
      "With --fault and --admin-port, PUT /faults on the admin port replaces the faults (the",
      "body is a JSON list of them), GET /faults lists them, and DELETE /search-limit resets the",
      "search limit. GET /requests lists the last 1,000 requests, and DELETE /requests forgets",
      "them.",
    ),
  ],
  examples: [
    "serve --snapshot community.snapshot --port 8080",
    "serve --data members.csv --title Trucks",
    "serve --search-limit 0 --fault search:status=503 --admin-port 9090",
  ],
  async run(parsed, commands) {
    const values = resolveFile(parsed);
    if ((values.tlsCert === undefined) !== (values.tlsKey === undefined)) {
      throw new UsageError("--tls-cert and --tls-key must be given together");
    }
    if (values.kiosk && values.noPage) {
      throw new UsageError("--kiosk and --no-page are mutually exclusive");
    }
    if (values.data !== undefined && values.snapshot !== undefined) {
      throw new UsageError("--snapshot and --data are mutually exclusive");
    }
    // From the beginning, because without a handler, SIGHUP would end the process.
    process.on("SIGHUP", () => {});

    await using log = createLog(values.logLevel, process.env.JOURNAL_STREAM);
    for (const variable of await listUnknownVariables(commands)) {
      log.warn({ variable }, "unknown environment variable, ignored");
    }
    await serve(values, log);
    log.info("stopped");
  },
});

/** Finds out which of the two flags the argument stands for. */
function resolveFile(values: ServeValues): ServeValues {
  const { file } = values;
  if (file === undefined) return values;
  const isData = typeof file === "string" && !isSnapshot(file);
  return isData ? { ...values, data: file } : { ...values, snapshot: file };
}

/** Lists the variables that look like settings but are not, most likely because of a typo. */
async function listUnknownVariables(commands: Commands): Promise<string[]> {
  const isUnknownTo = (settings: Setting[]) => (name: string) =>
    name.startsWith("ROADBOOK_") && !settings.some((setting) => variableOf(setting) === name);
  const foreign = Object.keys(process.env).filter(isUnknownTo(Object.values(serveSettings)));
  if (foreign.length === 0) return [];

  const all = await Promise.all(Object.values(commands).map(({ load }) => load()));
  return foreign.filter(isUnknownTo(all.flatMap(({ settings }) => Object.values(settings))));
}

/** Serves until a signal. Then, or if a step fails, closes what it has opened, the last first. */
async function serve(values: ServeValues, log: Log): Promise<void> {
  using certificate = await openTls(values, log);
  const { snapshot, remote, imported } = await openServed(values, log);
  using _remote = remote;
  const metrics =
    values.adminPort === undefined
      ? undefined
      : (await import("../server/metrics.ts")).createMetrics();

  using limiter = await openLimiter(values, storeOf(values.rateLimitStore, log));
  await using roadbook = await openRoadbook({
    ...values,
    snapshot,
    upstream: remote ?? imported,
    limiter,
    page: !values.noPage,
    isHttpsOnly: values.tlsCert !== undefined && /^https:/.test(values.publicUrl ?? ""),
    // Nobody shares a budget if nothing is counted.
    onSharedBudget: limiter && ((header) => warnAboutSharedBudget(header, log)),
    onResponse(facts) {
      metrics?.countResponse(facts);
      if (values.accessLog) logRequest(log, facts);
    },
    onBug: (error, requestId) => log.error({ err: error, requestId }, "bug"),
  });
  metrics?.addGauges({ roadbook, remote, certificate });
  // Removes what killed servers have left there.
  if (values.cacheDir !== undefined) void removeLeftovers(values.cacheDir);

  const { faults, adminHost: host, adminPort: port = 0 } = values;
  const recorder = metrics && faults && createRecorder();
  const rig = recorder && { roadbook, recorder };
  const onBug = (error: unknown) => log.error({ err: error }, "bug");
  let isStopping = false;
  const isReady = () => !isStopping;
  await using admin =
    metrics &&
    (await openListener(
      { host, port, flagPrefix: "--admin-" },
      createAdminFetch({ host, metrics, isReady, rig, onBug }),
    ));
  const inTurns = takeTurns(roadbook.handler);
  const handler = recorder?.observe(inTurns) ?? inTurns;
  await using listener = await openListener(portOf(values), handler, certificate?.tls);
  certificate?.watch(listener.renew);

  async function refresh(isForced: boolean) {
    await imported?.refresh();
    return roadbook.refresh(isForced);
  }
  const watched = { roadbook: { refresh }, remote, metrics };
  using watcher = watchSnapshot(watched, values.refresh, log);
  process.on("SIGHUP", () => {
    certificate?.reload();
    void watcher.reload();
  });

  // Called before the ready line, because programs may send a signal as soon as they read it.
  const signalled = nextSignal();
  warnAboutFlags(values, log);
  announce(values, roadbook.meta(), listener.origin, admin?.origin, log);
  // systemd sets it if it waits until the server is ready, which a unit with `Type=notify` asks for.
  if (process.env.NOTIFY_SOCKET) void notifySystemd(log);

  log.info({ signal: await signalled }, "stopping");
  isStopping = true;
  // A second signal or the timeout cuts off requests that are still in progress.
  await Promise.race([listener.drain(), nextSignal(), sleep(values.shutdownTimeout)]);
}

/** Undefined without TLS. */
async function openTls({ tlsCert: cert, tlsKey: key }: ServeValues, log: Logger) {
  if (cert === undefined || key === undefined) return undefined;
  const { openCertificate } = await import("../server/certificate.ts");
  return openCertificate({ cert, key }, log);
}

/** The file that is served. It may be the copy of one at a URL, or be imported from data. */
interface Served {
  snapshot: string | Uint8Array;
  remote?: RemoteSnapshot;
  imported?: ImportedData;
}

async function openServed(values: ServeValues, log: Logger): Promise<Served> {
  const { snapshot, data } = values;
  using _ending = endOnSignal({ signals: STOPPING });
  if (typeof snapshot === "object") {
    const remote = await openRemote(snapshot, values, log);
    return { snapshot: remote.path, remote };
  }
  if (data !== undefined) {
    const { openData } = await import("./serve-data.ts");
    const imported = await openData(data, log);
    return { snapshot: imported.path, imported };
  }
  return { snapshot: snapshot ?? (await demoSnapshot()) };
}

async function openRemote(
  location: RemoteLocation,
  { cacheDir, fetchTimeout }: ServeValues,
  log: Logger,
): Promise<RemoteSnapshot> {
  const { openRemoteSnapshot } = await import("../snapshot/remote/remote-snapshot.ts");
  return await openRemoteSnapshot({
    location,
    // Removed only at exit, because a download may still be running when the server has stopped.
    folder: cacheDir ?? (await makeTemporaryFolder()).folder,
    timeoutMs: fetchTimeout,
    onDown: (detail: string) => log.error(`${location.name} ${detail}; serving the old snapshot`),
    onUp: () => log.info(`${location.name} has recovered`),
    onUnlocked: (reason) => log.warn({ reason }, "cannot lock the copy in the cache folder"),
  });
}

function storeOf(url: ServeValues["rateLimitStore"], log: Logger): StoreOptions | undefined {
  if (url === undefined) return undefined;
  return {
    url,
    onDown: (reason) => log.warn({ reason }, "rate limit store down, counting in memory"),
    onUp: () => log.info("rate limit store up"),
  };
}

/** The port for everybody. */
function portOf(values: ServeValues): PortOptions {
  const { host, port, reusePort, trustedProxies, idleTimeout } = values;
  const defaultIdleTimeoutMs = trustedProxies ? PROXIED_IDLE_TIMEOUT_MS : IDLE_TIMEOUT_MS;
  const idleTimeoutMs = idleTimeout ?? defaultIdleTimeoutMs;
  return { host, port, reusePort, idleTimeoutMs, flagPrefix: "--" };
}

/** By systemd's own program, because neither Bun nor Node.js can write to its socket for datagrams. */
async function notifySystemd(log: Logger): Promise<void> {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn("systemd-notify", ["--ready"], { stdio: "ignore" });
  const problem = await once(child, "exit").then(
    ([code]) => code !== 0 && `systemd-notify ended with ${code}`,
    reasonOf,
  );
  const advice = "it will take the start for failed; use Type=exec";
  if (problem) log.warn(`cannot tell systemd that the server is ready: ${problem}; ${advice}`);
}
