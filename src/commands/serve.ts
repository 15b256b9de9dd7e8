/** `roadbook serve`: listens, answers, and stops cleanly. */
import { readFileSync } from "node:fs";
import { type Logger, pino } from "pino";
import { demoSnapshot, docsScript } from "../assets.ts";
import { type ServeConfig, type Settings, serveConfig } from "../config.ts";
import type { Limiter } from "../limit/limiter.ts";
import { openSharedLimiter } from "../limit/redis.ts";
import { createRoadbook, type Roadbook } from "../roadbook.ts";
import type { Replacement } from "../snapshot/live.ts";

/** How often is looked whether the file has been replaced: well within the second that is promised. */
const REFRESH_MS = 200;

export async function runServe(settings: Settings): Promise<number> {
  const config = serveConfig(settings);
  const log = pino({ level: config.logLevel }, pino.destination({ fd: 2, sync: true }));
  const limiter = await openLimiter(config, log);
  const roadbook = await createRoadbook({
    snapshot: config.snapshot ?? (await demoSnapshot()),
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
  });
  const server = listen(config, roadbook);
  // Before the ready line: whoever waits for it may send a signal at once.
  const stopped = nextSignal();
  const refresh = () => tellReplacement(log, roadbook.refresh());
  process.on("SIGHUP", refresh);
  const timer = setInterval(refresh, REFRESH_MS);
  process.stdout.write(`roadbook listening on ${server.url.origin}\n`);
  log.info({ url: server.url.origin }, "ready");
  const signal = await stopped;
  log.info({ signal }, "stopping");
  // A second signal ends it at once, and so does the end of the grace.
  await Promise.race([server.stop(), nextSignal(), Bun.sleep(config.graceMs)]);
  await server.stop(true);
  clearInterval(timer);
  process.off("SIGHUP", refresh);
  limiter?.close();
  roadbook.close();
  return 0;
}

/** The shared store, where there is one. */
async function openLimiter(config: ServeConfig, log: Logger): Promise<Limiter | undefined> {
  const { rateLimitStore: url, searchLimit: limit, searchWindowMs: windowMs, maxClients } = config;
  if (url === undefined || limit === 0) return undefined;
  return openSharedLimiter({
    url,
    limit,
    windowMs,
    maxClients,
    onDown: (reason) => log.warn({ reason }, "rate limit store down, counting in memory"),
    onUp: () => log.info("rate limit store up"),
  });
}

function tellReplacement(log: Logger, replacement: Replacement | undefined): void {
  if (!replacement) return;
  if ("meta" in replacement) {
    const { built_at, counts } = replacement.meta;
    log.info({ builtAt: built_at, counts }, "serving a new snapshot");
  } else log.error(`${replacement.refused.message}; serving the old snapshot`);
}

function listen({ host, port, tls }: ServeConfig, roadbook: Roadbook) {
  try {
    return Bun.serve({
      hostname: host,
      port,
      development: false,
      reusePort: false,
      ...(tls && { tls: { cert: readFileSync(tls.cert), key: readFileSync(tls.key) } }),
      // Nothing here reads a body.
      maxRequestBodySize: 64 * 1024,
      fetch: (request, server) => roadbook.fetch(request, server.requestIP(request)?.address),
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
