/**
 * The log: JSON lines on standard error, or readable lines if standard error is a terminal. Logging
 * never delays a response. If the reader of the log is too slow, lines are dropped and counted.
 */
import { fstatSync, write } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, pino } from "pino";
import { codeOf } from "../files/errors.ts";

export interface Log extends Logger {
  /** Resolves when all lines have been written, or after {@link CLOSE_MS}. */
  close(): Promise<void>;
}

const STDERR = 2;
/** The maximum total length of lines that wait to be written, about 5,000 access log lines. */
const MAX_WAITING_LENGTH = 1_000_000;
const CLOSE_MS = 1000;
/** How long to wait after EAGAIN, which means that a non-blocking pipe is full. */
const BUSY_MS = 10;

export async function createLog(level: string): Promise<Log> {
  // `process.stderr` loads Bun's streams, which slows startup, so it is used only for a terminal.
  const isTerminal = fstatSync(STDERR).isCharacterDevice() && process.stderr.isTTY;
  const format = isTerminal ? await createPretty() : (line: string) => line;
  const sink = createSink((dropped) => log.warn({ dropped }, `${dropped} log lines were dropped`));
  const log = pino({ level }, { write: (line) => sink.write(format(line)) });
  return Object.assign(log, { close: sink.close });
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

/**
 * Writes in the background, one write at a time. A write to a full pipe blocks a thread in Bun's
 * pool, but never the event loop. pino's own destination also writes in the background, but at exit
 * it flushes synchronously, which would hang forever if the reader has stalled. Once writing works
 * again, `onDropped` is called with the number of lines dropped since its last call.
 */
function createSink(onDropped: (lines: number) => void) {
  let waiting: string[] = [];
  let waitingLength = 0;
  let dropped = 0;
  let isReporting = false;
  let writing: Promise<void> | undefined;

  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const lines = waiting;
      waiting = [];
      waitingLength = 0;
      try {
        await writeAll(Buffer.from(lines.join("")));
      } catch {
        // The disk is full or the reader is gone. The server carries on without its log.
        dropped += lines.length;
        continue;
      }
      if (dropped === 0) continue;
      const lost = dropped;
      dropped = 0;
      // The report is logged even if the buffer is full.
      isReporting = true;
      onDropped(lost);
      isReporting = false;
    }
    writing = undefined;
  }

  return {
    write(line: string): void {
      if (!isReporting && waitingLength + line.length > MAX_WAITING_LENGTH) {
        dropped++;
        return;
      }
      waiting.push(line);
      waitingLength += line.length;
      writing ??= writeWaiting();
    },
    close: () => Promise.race([writing, sleep(CLOSE_MS)]),
  };
}

async function writeAll(bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    write(STDERR, bytes, at, (error, count) => {
      if (!error) resolve(count);
      else if (codeOf(error) === "EAGAIN") setTimeout(() => resolve(0), BUSY_MS);
      else reject(error);
    });
    at += await promise;
  }
}
