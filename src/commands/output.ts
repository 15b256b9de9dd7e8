/** Writes results, summaries and progress, and cleans up when a signal ends a command. */
import { writeSync } from "node:fs";
import { constants } from "node:os";
import { setImmediate } from "node:timers/promises";
import { codeOf, reasonOf } from "../files/errors.ts";
import type { Counts } from "../snapshot/format/counts.ts";

const STDOUT = 1;

/** Returns false if the reader has stopped early, as `head` does. Throws if the disk is full. */
export function writeStdout(text: string): boolean {
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

export const ENDING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

interface EndOptions {
  signals?: readonly NodeJS.Signals[];
  /** The state of the files after a signal, for the message. */
  left?: string;
}

/**
 * Runs `write`. A signal ends the process and so removes unfinished files. Once `write` has called
 * `onCommit`, signals are ignored, because the exit code must say that the file was replaced.
 */
export async function endOnSignal<T>(
  write: (onCommit: () => void) => Promise<T>,
  { signals = ENDING, left = "no file was changed" }: EndOptions = {},
): Promise<T> {
  let isCommitted = false;
  const end = (signal: NodeJS.Signals) => {
    if (isCommitted) return;
    clearLine();
    process.stderr.write(`roadbook: ended by ${signal}; ${left}\n`);
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of signals) process.on(signal, end);
  try {
    return await write(() => {
      isCommitted = true;
    });
  } finally {
    if (!isCommitted) {
      for (const signal of signals) process.off(signal, end);
    }
  }
}

/** Writes a summary. If that fails, only warns, because the file has already been replaced. */
export function writeSummary(text: string): void {
  try {
    writeStdout(text);
  } catch (error) {
    process.stderr.write(`roadbook: warning: ${reasonOf(error)}\n`);
  }
}

/** In a terminal, shows the command line to type next. */
export function suggestNext(args: readonly string[]): void {
  if (!process.stdout.isTTY) return;
  const words = args.map((text) => (/^[\w./:-]+$/.test(text) ? text : `'${text}'`));
  writeSummary(`next: roadbook ${words.join(" ")}\n`);
}

export const toLine = (outcome: object): string => `${JSON.stringify(outcome)}\n`;

export function describeCounts(counts: Counts): string {
  const publicUsers = counts.public_users.toLocaleString("en");
  const users = `${plural(counts.users, "user")} (${publicUsers} public)`;
  const companies = plural(counts.companies, "company", "companies");
  const achievements = plural(counts.achievements, "achievement");
  return `${users}, ${companies}, ${achievements}, ${plural(counts.roles, "role")}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
}

/** How often to write what a command is doing, off a terminal. */
const PROGRESS_MS = 30_000;

/** Shows on a terminal what a command is doing. Elsewhere, writes that every 30 seconds. */
export class Progress {
  readonly #isTerminal = process.stderr.isTTY;
  // For long queries. Reading a SQLite file blocks timers, so `show` looks at the clock, too.
  readonly #timer = setInterval(() => this.#writeLine(), 1000).unref();
  #text = "reading";
  #writtenAtMs = Date.now();

  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    clearLine();
    if (this.#isTerminal) process.stderr.write(text);
    this.#writeLine();
  }

  warn(line: string): void {
    clearLine();
    process.stderr.write(`roadbook: ${line}\n${this.#isTerminal ? this.#text : ""}`);
  }

  end(): void {
    clearInterval(this.#timer);
    clearLine();
  }

  #writeLine(): void {
    if (this.#isTerminal || Date.now() - this.#writtenAtMs < PROGRESS_MS) return;
    this.#writtenAtMs = Date.now();
    process.stderr.write(`roadbook: ${this.#text}\n`);
  }
}

/** Joins lines to chunks of some 64 KB. */
export async function* chunksOf(lines: Iterable<string>): AsyncGenerator<string> {
  let text = "";
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < 2 ** 16) continue;
    yield text;
    text = "";
    // Gives the event loop a chance to handle signals.
    await setImmediate();
  }
  yield text;
}
