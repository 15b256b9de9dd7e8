/** The metrics for Prometheus. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from "prom-client";
import { version } from "../domain/version.ts";
import type { ResponseFacts } from "../http/app-options.ts";
import type { LimiterStatus } from "../limit/limiter.ts";
import type { Meta } from "../snapshot/format/meta.ts";
import type { RemoteStatus } from "../snapshot/remote/remote-snapshot.ts";

/** The objects whose state the gauges show. */
interface Gauged {
  roadbook: {
    meta(): Meta;
    limiterStatus(): LimiterStatus | undefined;
    refused(): string | undefined;
  };
  /** Undefined for a local file. */
  remote: { status(): RemoteStatus } | undefined;
  /** When the certificate expires; undefined without TLS. */
  certificate: { expiry(): Date } | undefined;
}

/** Bucket bounds in seconds. Responses take microseconds, or 1 ms with a shared limit store. */
const DURATIONS = [0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1];

/**
 * The histogram gets this many durations at once, because one after each request would slow down
 * requests.
 */
const BATCH_SIZE = 256;

/** Default metrics to leave out: wrong outside V8, or about memory that is reserved but unused. */
const MEANINGLESS = /^(?:nodejs_(?:heap_space|active|version)|process_(?:heap|virtual))_/;

export type Metrics = ReturnType<typeof createMetrics>;

/** Metrics are global to the process, so this is called once. */
export function createMetrics() {
  addDefaultMetrics();

  /** Durations that the histogram does not have yet. */
  const pending: { labels: { route: string; status: number }; seconds: number }[] = [];
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from receiving the request headers until the response is ready to send",
    labelNames: ["route", "status"],
    buckets: DURATIONS,
    collect: observePending,
  });
  const decisions = new Counter({
    name: "roadbook_search_limit_decisions_total",
    help: "Searches that the limit allowed or refused",
    labelNames: ["decision"],
  });
  const replacements = new Counter({
    name: "roadbook_snapshot_replacements_total",
    help: "Replacements of the snapshot file that were swapped in or refused",
    labelNames: ["outcome"],
  });
  for (const decision of ["allowed", "refused"]) decisions.inc({ decision }, 0);
  for (const outcome of ["swapped", "refused"]) replacements.inc({ outcome }, 0);

  function observePending(): void {
    for (const { labels, seconds } of pending) durations.observe(labels, seconds);
    pending.length = 0;
  }

  return {
    contentType: register.contentType,
    render: () => register.metrics(),
    countResponse({ route = "unknown", status, durationMs, search }: ResponseFacts): void {
      if (search) decisions.inc({ decision: search });
      pending.push({ labels: { route, status }, seconds: durationMs / 1000 });
      if (pending.length >= BATCH_SIZE) observePending();
    },
    countReplacement(outcome: "swapped" | "refused"): void {
      replacements.inc({ outcome });
    },
    addGauges({ roadbook, remote, certificate }: Gauged): void {
      addRoadbookGauges(roadbook);
      if (remote) addRemoteGauges(remote);
      if (certificate) addCertificateGauge(certificate);
    },
  };
}

function addDefaultMetrics(): void {
  collectDefaultMetrics();
  for (const { name } of register.getMetricsAsArray()) {
    if (MEANINGLESS.test(name)) register.removeSingleMetric(name);
  }
}

function addRoadbookGauges(roadbook: Gauged["roadbook"]): void {
  addGauge("snapshot_built_timestamp_seconds", "When the snapshot was built", () =>
    unixSecondsOf(roadbook.meta().built_at),
  );
  addGauge("snapshot_public_users", "Public users in the snapshot", () => {
    return roadbook.meta().counts.public_users;
  });
  addGauge("snapshot_refused", "1 if a newer snapshot is not served", () => {
    return roadbook.refused() !== undefined;
  });
  addGauge("search_limit_store_up", "0 while the shared store is unreachable, else 1", () => {
    return roadbook.limiterStatus()?.up !== false;
  });
  addGauge("search_limit_clients_ratio", "Tracked clients as a part of --max-clients", () => {
    const { clients, maxClients } = roadbook.limiterStatus() ?? { clients: 0, maxClients: 1 };
    return clients / maxClients;
  });
  addGauge("build_info", "Always 1; the label is the running version", () => 1, { version });
}

function addRemoteGauges(remote: NonNullable<Gauged["remote"]>): void {
  addGauge("snapshot_source_up", "1 if the last fetch succeeded", () => {
    return remote.status().error === null;
  });
  addGauge("snapshot_source_last_success_timestamp_seconds", "Last successful fetch", () =>
    unixSecondsOf(remote.status().last_success),
  );
}

function addCertificateGauge(certificate: NonNullable<Gauged["certificate"]>): void {
  addGauge("tls_certificate_expiry_timestamp_seconds", "When it expires", () => {
    return certificate.expiry().getTime() / 1000;
  });
}

function addGauge(name: string, help: string, read: () => number | boolean, labels = {}): void {
  new Gauge({
    name: `roadbook_${name}`,
    help,
    labelNames: Object.keys(labels),
    collect() {
      this.set(labels, Number(read()));
    },
  });
}

function unixSecondsOf(time: string | null): number {
  return time === null ? 0 : Date.parse(time) / 1000;
}
