/** Writes results to standard output, and shows progress on standard error. */
import { codeOf, reasonOf } from "../files/errors.ts";

const STDOUT = 1;

/** How often to write the progress if standard error is not a terminal. */
const WRITE_MS = 30_000;
const LOOK_MS = 1000;

/** Returns false if the reader has stopped early, as `head` does. Throws if the disk is full. */
export function writeStdout(text: string): boolean {
  // Loaded here, because `health` starts without the file system.
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

/** In a terminal, shows the command line to type next. */
export function suggestNext(args: readonly string[]): void {
  if (!process.stdout.isTTY) return;
  const words = args.map((text) => (/^[\w./:-]+$/.test(text) ? text : `'${text}'`));
  writeSummary(`next: roadbook ${words.join(" ")}\n`);
}

export type Progress = ReturnType<typeof startProgress>;

/** Shows on a terminal what a command is doing. Elsewhere, writes a line now and then. */
export function startProgress() {
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
    show(next: string): void {
      if (next === text) return;
      text = next;
      isShown = true;
      showOnTerminal(text);
      writeLine();
    },
    warn(line: string): void {
      showOnTerminal("");
      console.error(`roadbook: ${line}`);
      showOnTerminal(text);
    },
    end(): void {
      clearInterval(timer);
      if (isShown) showOnTerminal("");
    },
  };
}

/** Replaces the last line of a terminal. The first use of `process.stderr` takes 10 ms. */
export function showOnTerminal(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
