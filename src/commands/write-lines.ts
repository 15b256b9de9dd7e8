/**
 * Writes a dataset as text: to standard output, or to a file, whole or not at all, compressed if its
 * name says so. Never replaces a file that is no dataset, unless it is forced to.
 */
import { createWriteStream, existsSync } from "node:fs";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import zlib from "node:zlib";
import { parseLine } from "../domain/dataset.ts";
import { decompress } from "../files/decompress.ts";
import { readFileBytes, readLines } from "../files/lines.ts";
import { replaceFile } from "../files/replace.ts";
import { notOverwritten } from "../snapshot/build/overwrite-guard.ts";
import { endOnSignal, writeStdout } from "./output.ts";

const CHUNK_LENGTH = 1 << 16;

interface Output {
  /** A file, compressed if its name ends in .gz or .zst; standard output if missing. */
  to?: string | undefined;
  /** Replaces also a file that is no dataset. */
  force: boolean;
}

/** Writes each line of a dataset and its end. */
export async function writeLines(lines: Iterable<string>, { to, force }: Output): Promise<void> {
  const chunks = chunksOf(lines);
  if (to === undefined) {
    for await (const chunk of chunks) if (!writeStdout(chunk)) return;
    return;
  }
  const write = async (path: string, old: string) => {
    if (!force && existsSync(old)) await refuseForeign(old, to);
    await pipeline(chunks, compressorFor(to), createWriteStream(path, { flags: "wx" }));
  };
  await endOnSignal(() => replaceFile(to, write));
}

function compressorFor(name: string) {
  if (name.endsWith(".gz")) return zlib.createGzip();
  return name.endsWith(".zst") ? zlib.createZstdCompress() : new PassThrough();
}

/** Throws unless the file at `path`, called `target`, is empty or begins like a dataset. */
async function refuseForeign(path: string, target: string): Promise<void> {
  try {
    for await (const [line] of readLines(decompress(readFileBytes(path)))) {
      if (!line?.problem && line && !Array.isArray(parseLine(line.text))) return;
      throw new Error("no line");
    }
  } catch {
    throw new Error(notOverwritten(target, "a dataset"));
  }
}

async function* chunksOf(lines: Iterable<string>): AsyncGenerator<string> {
  let text = "";
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < CHUNK_LENGTH) continue;
    yield text;
    text = "";
    // Signals that arrived meanwhile are handled here.
    await setImmediate();
  }
  yield text;
}
