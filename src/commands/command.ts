/**
 * What commands have in common: how they are declared, write results to standard output, show progress
 * on standard error, and end at signals.
 */
import { groupDigits } from "../domain/text.ts";
import { codeOf, reasonOf } from "../files/errors.ts";
import * as kinds from "../settings/kinds.ts";
import type { Settings, Values } from "../settings/setting.ts";
import type { Counts } from "../snapshot/format/meta.ts";

const STDOUT = 1;

/** How often to write the progress if standard error is not a terminal. */
const WRITE_MS = 30_000;
const LOOK_MS = 1000;

/** The signals that end a command. */
export const ENDING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The signals that stop a server. */
export const STOPPING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM"];

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
function showOnTerminal(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

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
 * Runs `write`. A signal ends the process and so removes unfinished files. Once `write` has called
 * `onCommit`, signals are ignored, because the exit code must say that the file was replaced.
 */
export async function endOnSignal<T>(
  write: (onCommit: () => void) => Promise<T>,
  { signals = ENDING, left = "no file was changed" }: EndOptions = {},
): Promise<T> {
  let isCommitted = false;
  const end = (signal: NodeJS.Signals, number: number) => {
    if (isCommitted) return;
    showOnTerminal("");
    console.error(`roadbook: ended by ${signal}; ${left}`);
    process.exit(128 + number);
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

export interface Command<Given extends Settings = Settings> {
  settings: Given;
  /** Paragraphs for the help. */
  notes?: readonly string[];
  /** Lines for the end of the help, without the program's name. */
  examples: readonly string[];
  run(values: Values<Given>, commands: Commands): Promise<void>;
}

/** All commands by their names. Only those that are needed are loaded. */
export type Commands = Record<string, { summary: string; load(): Promise<Command> }>;

/** Infers the types of the values for `run`. */
export function command<Given extends Settings>(given: Command<Given>): Command {
  return given;
}

export const snapshotFile = {
  name: "FILE",
  kind: kinds.text("FILE"),
  required: true,
  help: "a snapshot",
} as const;

export const json = { kind: kinds.boolean, help: "print one JSON object, also for an error" };

export const toLine = (outcome: object): string => `${JSON.stringify(outcome)}\n`;

export function describeCounts(counts: Counts): string {
  const publicUsers = groupDigits(counts.public_users);
  const users = `${plural(counts.users, "user")} (${publicUsers} public)`;
  const companies = plural(counts.companies, "company", "companies");
  const achievements = plural(counts.achievements, "achievement");
  return `${users}, ${companies}, ${achievements}, ${plural(counts.roles, "role")}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${groupDigits(count)} ${count === 1 ? one : many}`;
}
