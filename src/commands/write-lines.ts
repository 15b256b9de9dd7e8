/**
 * Writes a dataset as text to standard output or to a file. A file is replaced as a whole. A file
 * that is not a dataset is replaced only if `force` is set.
 */
import { createWriteStream, existsSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { InvalidLine, parseObject, validateRecord } from "../domain/dataset.ts";
import { decompress } from "../files/decompress.ts";
import { readFileBytes, readLines } from "../files/lines.ts";
import { type Paths, replaceFile } from "../files/replace.ts";
import { notOverwritten } from "../snapshot/import/overwrite-guard.ts";
import { endOnSignal, writeStdout } from "./output.ts";

const CHUNK_LENGTH = 1 << 16;

interface Output {
  /** The file to write. Defaults to standard output. */
  to?: string | undefined;
  /** Whether to replace even a file that is not a dataset. */
  force: boolean;
}

export async function writeLines(lines: Iterable<string>, { to, force }: Output): Promise<void> {
  const chunks = chunksOf(lines);
  if (to === undefined) {
    for await (const chunk of chunks) if (!writeStdout(chunk)) return;
    return;
  }
  const write = async ({ path, old }: Paths) => {
    if (!force && existsSync(old)) await refuseForeign(old, to);
    // Never creates the file, because a signal may have removed it.
    await pipeline(chunks, createWriteStream(path, { flags: "r+" }));
  };
  await endOnSignal((onCommit) => replaceFile(to, write, { onCommit }));
}

/** Throws unless the file at `path` is empty or starts like a dataset. The error names `target`. */
async function refuseForeign(path: string, target: string): Promise<void> {
  try {
    for await (const [line] of readLines(decompress(readFileBytes(path)))) {
      const record = line && !line.problem && parseObject(line.text);
      const isRecord = record && !(record instanceof InvalidLine);
      if (isRecord && !(validateRecord(record, line.text) instanceof InvalidLine)) return;
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
    // Gives the event loop a chance to handle signals.
    await setImmediate();
  }
  yield text;
}
