/**
 * Connects commands to the terminal: writes results to standard output, shows progress on standard
 * error, and lets signals end a command, unless it is just replacing a file, or stop a server.
 */
import { codeOf, reasonOf } from "../files/errors.ts";

const STDOUT = 1;

/** How often to write the progress if standard error is not a terminal. */
const WRITE_MS = 30_000;
const LOOK_MS = 1000;

/** Returns false if the reader has stopped early, as `head` does. Throws if the disk is full. */
export function writeStdout(text: string): boolean {
  const { writeSync } = process.getBuiltinModule("node:fs");
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(STDOUT, bytes, at);
    } catch (error) {
      if (codeOf(error) === "EPIPE") return false;
      if (codeOf(error) !== "EAGAIN") {
        throw new Error(`cannot write to standard output: ${reasonOf(error)}`);
      }
      // The pipe is full, and its reader has made it non-blocking.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
  return true;
}

/** Writes a summary. If that fails, only warns, because the file has already been replaced. */
export function writeSummary(text: string): void {
  try {
    writeStdout(text);
  } catch (error) {
    console.error(`roadbook: warning: ${reasonOf(error)}`);
  }
}

export interface Progress extends Disposable {
  show(text: string): void;
  /** Prints text above the progress. */
  print(text: string): void;
}

/** Shows on a terminal what a command is doing. Elsewhere, writes a line now and then. */
export function startProgress(): Progress {
  let text = "reading";
  let isShown = false;
  let writtenAtMs = Date.now();

  function writeLine(): void {
    if (Date.now() - writtenAtMs < WRITE_MS || process.stderr.isTTY) return;
    writtenAtMs = Date.now();
    console.error(`roadbook: ${text}`);
  }

  // For long queries. Reading a SQLite file blocks timers, so `show` looks at the clock, too.
  const timer = setInterval(writeLine, LOOK_MS).unref();
  return {
    show(next): void {
      if (next === text) return;
      text = next;
      isShown = true;
      showOnTerminal(text);
      writeLine();
    },
    print(above): void {
      showOnTerminal("");
      console.error(above);
      isShown = true;
      showOnTerminal(text);
    },
    [Symbol.dispose](): void {
      clearInterval(timer);
      if (isShown) showOnTerminal("");
      isShown = false;
    },
  };
}

/** Replaces the last line of a terminal. Used late, because first using `process.stderr` takes 10 ms. */
function showOnTerminal(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

/** The signals that end a command. */
export const ENDING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The signals that stop a server. */
export const STOPPING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM"];

/** Resolves to the next signal to stop. From the call on, such a signal does not end the process. */
export function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of STOPPING) process.once(signal, resolve);
  });
}

interface EndOptions {
  signals?: readonly NodeJS.Signals[];
  /** The state of the files after a signal, for the message. */
  left?: string;
}

/**
 * Until it is disposed of, a signal ends the process and so removes unfinished files. After a call of
 * `onCommit`, signals are ignored, because the exit code must say that the file was replaced.
 */
export function endOnSignal({
  signals = ENDING,
  left = "no file was changed",
}: EndOptions = {}): Disposable & { onCommit(): void } {
  let isCommitted = false;
  const end = (signal: NodeJS.Signals, number: number) => {
    if (isCommitted) return;
    showOnTerminal("");
    console.error(`roadbook: ended by ${signal}; ${left}`);
    process.exit(128 + number);
  };

  for (const signal of signals) process.on(signal, end);
  return {
    onCommit(): void {
      isCommitted = true;
    },
    [Symbol.dispose](): void {
      if (isCommitted) return;
      for (const signal of signals) process.off(signal, end);
    },
  };
}
