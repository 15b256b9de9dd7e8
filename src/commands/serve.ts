/** `roadbook serve`: listens, answers, and stops cleanly. */
import { pino } from "pino";
import { demoSnapshot, docsScript } from "../assets.ts";
import { type ServeConfig, type Settings, serveConfig } from "../config.ts";
import { createRoadbook, type Roadbook } from "../roadbook.ts";

/** A request that has not been answered this long after a signal is given up. */
const GRACE_MS = 10_000;

export async function runServe(settings: Settings): Promise<number> {
  const config = serveConfig(settings);
  const log = pino({ level: config.logLevel }, pino.destination({ fd: 2, sync: true }));
  const roadbook = await createRoadbook({
    snapshot: config.snapshot ?? (await demoSnapshot()),
    publicUrl: config.publicUrl,
    searchLimit: config.searchLimit,
    searchWindowMs: config.searchWindowMs,
    docsScript,
    onBug: (error, requestId) => log.error({ err: error, requestId }, "bug"),
  });
  const server = listen(config, roadbook);
  process.stdout.write(`roadbook listening on ${server.url.origin}\n`);
  const signal = await nextSignal();
  log.info({ signal }, "stopping");
  await Promise.race([server.stop(), Bun.sleep(GRACE_MS)]);
  await server.stop(true);
  roadbook.close();
  return 0;
}

function listen({ host, port }: ServeConfig, roadbook: Roadbook) {
  try {
    return Bun.serve({
      hostname: host,
      port,
      development: false,
      reusePort: false,
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
