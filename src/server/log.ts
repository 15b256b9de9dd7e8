/** The log on standard error. If its reader is too slow, lines are dropped, so nothing waits. */
import { once } from "node:events";
import { fstatSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, pino } from "pino";
import { SonicBoom } from "sonic-boom";

export interface Log extends Logger {
  close(): Promise<void>;
}

const STDERR = 2;
/** About 5,000 lines of the access log. */
const MAX_WAITING_BYTES = 1_000_000;
const CLOSE_MS = 1000;

export async function createLog(level: string): Promise<Log> {
  // `process.stderr` loads Bun's streams, which slows startup, so it is used only for a terminal.
  const isTerminal = fstatSync(STDERR).isCharacterDevice() && process.stderr.isTTY;
  const format = isTerminal ? await createPretty() : (line: string) => line;
  // pino's own destination, but without its hook at exit, which would wait for a stalled reader
  // forever. A write to a full pipe blocks a thread in Bun's pool, but never the event loop.
  const sink = new SonicBoom({ fd: STDERR, sync: false, maxLength: MAX_WAITING_BYTES });
  const log = pino({ level }, { write: (line) => sink.write(format(line)) });
  let dropped = 0;
  sink.on("drop", () => dropped++);
  sink.on("drain", () => {
    const lost = dropped;
    dropped = 0;
    if (lost > 0) log.warn({ dropped: lost }, `${lost} log lines were dropped`);
  });
  // The disk is full or the reader is gone. The server carries on, and the next line tries again.
  sink.on("error", () => {});

  async function flush(): Promise<void> {
    // Twice, because the first flush may log that lines were dropped.
    for (let times = 0; times < 2; times++) {
      const drained = once(sink, "drain");
      sink.write("");
      await drained;
    }
  }
  return Object.assign(log, {
    close: () => Promise.race([flush().catch(() => {}), sleep(CLOSE_MS)]),
  });
}

async function createPretty(): Promise<(line: string) => string> {
  const { isColorSupported, prettyFactory } = await import("pino-pretty");
  return prettyFactory({
    colorize: isColorSupported,
    ignore: "pid,hostname",
    singleLine: true,
    translateTime: "SYS:yyyy-mm-dd HH:MM:ss",
  });
}
