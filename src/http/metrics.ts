/** Owns what Prometheus reads: responses, decisions, the snapshot, and the process itself. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { version } from "../domain/version.ts";
import type { LimiterStatus } from "../limit/limiter.ts";
import type { Meta } from "../snapshot/format/meta.ts";
import type { SourceStatus } from "../snapshot/remote/source.ts";
import type { ResponseFacts } from "./exchange.ts";

interface MetricsOptions {
  /** The facts of the snapshot that is served. */
  meta(): Meta;
  /** How searches are counted; undefined without a limit. */
  limiterStatus(): LimiterStatus | undefined;
  /** Where snapshots are fetched from; undefined for a file. */
  source: (() => SourceStatus) | undefined;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Seconds: a response from memory takes some microseconds, a decision of a shared store a millisecond. */
const DURATIONS = [0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1];

/** What another engine than V8 cannot say, and what it reserves but does not use. */
const MEANINGLESS = /^(?:nodejs_(?:heap_space|active|version)|process_(?:heap|virtual))_/;

export function createMetrics({ meta, limiterStatus, source }: MetricsOptions) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (MEANINGLESS.test(name)) registry.removeSingleMetric(name);
  }

  const labelNames = ["route", "status"] as const;
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's head to its response's, before that is sent",
    labelNames,
    buckets: DURATIONS,
    registers,
  });
  // Counted by the histogram already: a second count takes 3 µs of a request.
  new Counter({
    name: "http_requests_total",
    help: "Responses, by the template of their path",
    labelNames,
    registers,
    async collect() {
      this.reset();
      const { values } = await durations.get();
      for (const { metricName, labels, value } of values) {
        if (metricName?.endsWith("_count")) this.inc(labels, value);
      }
    },
  });
  const decisions = new Counter({
    name: "roadbook_search_limit_decisions_total",
    help: "Searches that the limit let through or refused",
    labelNames: ["decision"],
    registers,
  });
  const replacements = new Counter({
    name: "roadbook_snapshot_replacements_total",
    help: "Files put in the place of the snapshot, by what became of them",
    labelNames: ["outcome"],
    registers,
  });
  for (const decision of ["allowed", "refused"]) decisions.inc({ decision }, 0);
  for (const outcome of ["swapped", "refused"]) replacements.inc({ outcome }, 0);

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name: `roadbook_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  const secondsOf = (time: string | null) => (time === null ? 0 : Date.parse(time) / 1000);
  const builtAt = () => secondsOf(meta().built_at);
  const age = () => Date.now() / 1000 - builtAt();
  const isStoreUp = () => (limiterStatus()?.up === false ? 0 : 1);
  gauge("snapshot_built_timestamp_seconds", "When the snapshot was built (Unix time)", builtAt);
  gauge("snapshot_age_seconds", "Time since the snapshot was built", age);
  gauge("snapshot_public_users", "Public users in the snapshot", () => meta().counts.public_users);
  gauge("search_limit_clients", "Clients tracked in memory", () => limiterStatus()?.clients ?? 0);
  gauge(
    "search_limit_store_up",
    "1 while the store that counts searches responds, or memory counts",
    isStoreUp,
  );
  if (source) {
    const isUp = () => (source().error === null ? 1 : 0);
    const lastTry = () => secondsOf(source().last_try);
    const lastSuccess = () => secondsOf(source().last_success);
    gauge("snapshot_source_up", "1 when the last try to fetch the snapshot went well", isUp);
    gauge("snapshot_source_last_try_timestamp_seconds", "When it was last tried", lastTry);
    gauge("snapshot_source_last_success_timestamp_seconds", "When it last went well", lastSuccess);
    new Counter({
      name: "roadbook_snapshot_source_bytes_total",
      help: "Bytes of snapshots received",
      registers,
      collect() {
        this.reset();
        this.inc(source().bytes);
      },
    });
  }
  new Gauge({
    name: "roadbook_build_info",
    help: "1, by the version that is running",
    labelNames: ["version"],
    registers,
  }).set({ version }, 1);

  return {
    contentType: registry.contentType,
    countResponse({ route = "unknown", status, durationMs, search, isSubrequest }: ResponseFacts) {
      if (search) decisions.inc({ decision: search });
      if (isSubrequest) return;
      durations.observe({ route, status }, durationMs / 1000);
    },
    countReplacement: (outcome: "swapped" | "refused") => replacements.inc({ outcome }),
    /** All of it in Prometheus's text format. */
    render: () => registry.metrics(),
  };
}
