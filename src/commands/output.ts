/** Writes the lines a command makes: to a file, whole or not at all, or to standard output. */
import { closeSync, openSync, writeSync } from "node:fs";
import { codeOf } from "../files/errors.ts";
import { replaceFile } from "../files/replace.ts";

const CHUNK_LENGTH = 1 << 16;
const STDOUT = 1;

/**
 * Writes each line and its end. A reader of standard output that has had enough, such as `head`, is
 * no error.
 */
export async function writeLines(lines: Iterable<string>, to: string | undefined): Promise<void> {
  if (to !== undefined) {
    await replaceFile(to, async (path) => {
      const file = openSync(path, "wx");
      try {
        for (const chunk of chunksOf(lines)) writeAll(file, chunk);
      } finally {
        closeSync(file);
      }
    });
    return;
  }
  try {
    for (const chunk of chunksOf(lines)) writeAll(STDOUT, chunk);
  } catch (error) {
    if (codeOf(error) !== "EPIPE") throw error;
  }
}

function* chunksOf(lines: Iterable<string>): Generator<Buffer> {
  let text = "";
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < CHUNK_LENGTH) continue;
    yield Buffer.from(text);
    text = "";
  }
  if (text !== "") yield Buffer.from(text);
}

function writeAll(file: number, bytes: Buffer): void {
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
