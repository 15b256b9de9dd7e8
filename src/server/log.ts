/** The log on standard error. If its reader is too slow, lines are dropped, so nothing waits. */
import { once } from "node:events";
import { fstatSync, type Stats, statSync } from "node:fs";
import { devNull } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, pino, stdTimeFunctions } from "pino";
import { SonicBoom } from "sonic-boom";
import type { ResponseFacts } from "../http/app-options.ts";

/** Disposing of it waits for its reader, but not for long. */
export interface Log extends Logger, AsyncDisposable {
  /** Writes text as it is, unless the log is not in a terminal. */
  writeToTerminal(text: string): void;
}

const STDERR = 2;
/** About 5,000 lines of the access log. */
const MAX_WAITING_BYTES = 1_000_000;
const CLOSE_MS = 1000;

/** A line of the access log. Has the route instead of the URL, which may contain a search. */
export function logRequest(log: Logger, facts: ResponseFacts): void {
  const { requestId, method, route = null, status } = facts;
  const durationMs = Number(facts.durationMs.toFixed(3));
  const client = facts.client();
  log.info({ requestId, method, route, status, durationMs, client }, "request");
}

/** systemd sets `journalStream` (JOURNAL_STREAM) to the device and inode of its journal. */
export function createLog(level: string, journalStream?: string): Log {
  const stats = statOfStderr();
  const isTerminal = isTerminalAt(stats);
  const isJournal = stats && journalStream === `${stats.dev}:${stats.ino}`;

  const stderr = openStderr((dropped) => {
    log.warn({ dropped }, `${dropped} log lines were dropped`);
  });
  const format = (line: string) => {
    if (isTerminal) return toReadable(line);
    return isJournal ? withPriority(line) : line;
  };

  const formatters = { level: (level: string) => ({ level }) };
  const log = pino(
    { level, formatters, timestamp: stdTimeFunctions.isoTime },
    { write: (line) => stderr.write(format(line)) },
  );

  return Object.assign(log, {
    writeToTerminal(text: string) {
      if (isTerminal) stderr.write(text);
    },
    async [Symbol.asyncDispose]() {
      await Promise.race([stderr.flush().catch(() => {}), sleep(CLOSE_MS)]);
    },
  });
}

/**
 * pino's own destination, but without its hook at exit, which would wait for a stalled reader
 * forever. A write to a full pipe blocks a thread in Bun's pool, but never the event loop. Calls
 * `onLost` with the number of lines that were dropped, once there is room again.
 */
function openStderr(onLost: (dropped: number) => void) {
  const sink = new SonicBoom({ fd: STDERR, sync: false, maxLength: MAX_WAITING_BYTES });
  let lost = 0;
  sink.on("drop", () => lost++);
  sink.on("drain", () => {
    const dropped = lost;
    lost = 0;
    if (dropped > 0) onLost(dropped);
  });
  // The disk is full or the reader is gone. The server carries on, and the next line tries again.
  sink.on("error", () => {});

  return {
    write: (text: string) => sink.write(text),
    async flush(): Promise<void> {
      // Twice, because the first flush may log that lines were dropped.
      for (let times = 0; times < 2; times++) {
        const drained = once(sink, "drain");
        sink.write("");
        await drained;
      }
    },
  };
}

/** Undefined if standard error is closed, or if Windows does not say what it is. */
function statOfStderr(): Stats | undefined {
  try {
    return fstatSync(STDERR);
  } catch {
    return undefined;
  }
}

/** Avoids `node:tty` except on Windows, because loading it slows down the start. */
function isTerminalAt(stats: Stats | undefined): boolean {
  if (process.platform === "win32") return process.getBuiltinModule("node:tty").isatty(STDERR);
  return stats?.isCharacterDevice() === true && stats.rdev !== statSync(devNull).rdev;
}

/** The priorities of syslog, which the journal reads from the start of a line. */
const priorities: Record<string, number> = { fatal: 2, error: 3, warn: 4, info: 6 };

function withPriority(line: string): string {
  const [, level = ""] = /^\{"level":"(\w+)"/.exec(line) ?? [];
  return `<${priorities[level] ?? 7}>${line}`;
}

/** Returns a line for people, such as `12:03:11 serving a new snapshot  users=12,003`. */
function toReadable(line: string): string {
  const { level, time, pid, hostname, msg, err, ...fields } = JSON.parse(line);
  const name = level === "info" ? "" : `${level.toUpperCase()} `;
  const start = `${new Date(time).toTimeString().slice(0, 8)} ${name}`;
  const rest = [...listFields(fields)].map((field) => ` ${field}`).join("");
  return `${start}${msg}${rest && ` ${rest}`}\n${err ? `${err.stack ?? err}\n` : ""}`;
}

function* listFields(fields: object): Generator<string> {
  for (const [name, value] of Object.entries(fields)) {
    if (Object(value) === value) yield* listFields(value);
    else if (typeof value === "number") yield `${name}=${value.toLocaleString("en")}`;
    else yield `${name}=${/^[\w./:~+-]+$/.test(value) ? value : JSON.stringify(value)}`;
  }
}
