/** Writes what commands print: to standard output, or to a file, whole or not at all. */
import { closeSync, openSync, writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { codeOf, reasonOf } from "../files/errors.ts";
import { replaceFile } from "../files/replace.ts";
import { endOnSignal } from "./signals.ts";

const CHUNK_LENGTH = 1 << 16;
const STDOUT = 1;

/**
 * Writes a text to standard output. A reader that has had enough, such as `head`, is no error; a
 * full disk is one. False when nobody reads on.
 */
export function writeStdout(text: string): boolean {
  try {
    writeAll(STDOUT, text);
    return true;
  } catch (error) {
    if (codeOf(error) === "EPIPE") return false;
    throw new Error(`cannot write to standard output: ${reasonOf(error)}`);
  }
}

/** Writes each line and its end to a file, or to standard output. */
export async function writeLines(lines: Iterable<string>, to: string | undefined): Promise<void> {
  if (to === undefined) {
    for (const chunk of chunksOf(lines)) if (!writeStdout(chunk)) return;
    return;
  }
  await endOnSignal(() => replaceFile(to, (path) => writeFile(path, lines)));
}

async function writeFile(path: string, lines: Iterable<string>): Promise<void> {
  const file = openSync(path, "wx");
  try {
    for (const chunk of chunksOf(lines)) {
      writeAll(file, chunk);
      // A signal that came meanwhile is heard here.
      await setImmediate();
    }
  } finally {
    closeSync(file);
  }
}

function* chunksOf(lines: Iterable<string>): Generator<string> {
  let text = "";
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < CHUNK_LENGTH) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(file, bytes, at);
    } catch (error) {
      // The other side made the pipe one that does not wait.
      if (codeOf(error) !== "EAGAIN") throw error;
      Bun.sleepSync(1);
    }
  }
}
