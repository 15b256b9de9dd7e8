/** Writes results and summaries to standard output. */
import { writeSync } from "node:fs";
import { codeOf, reasonOf } from "../files/errors.ts";

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
