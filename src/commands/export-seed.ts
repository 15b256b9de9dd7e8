/**
 * `roadbook export` and `roadbook seed` write a dataset to standard output or to a file. A file is
 * replaced as a whole. A file that is not a dataset is replaced only if `force` is set.
 */
import { createWriteStream, existsSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { seedDataset } from "../community/community.ts";
import { InvalidLine, parseObject, validateRecord, withEndLine } from "../domain/dataset.ts";
import { decompress } from "../files/decompress.ts";
import { readFileBytes, readLines } from "../files/lines.ts";
import { replaceFile } from "../files/replace.ts";
import { notOverwritten } from "../snapshot/import/overwrite-guard.ts";
import { exportDataset } from "../snapshot/read/export.ts";
import { endOnSignal, writeStdout } from "./output.ts";

const CHUNK_LENGTH = 1 << 16;
const USERS_PER_COMPANY = 25;

interface Output {
  /** The file to write. Defaults to standard output. */
  to?: string | undefined;
  /** Whether to replace even a file that is not a dataset. */
  force: boolean;
}

/** `file` is the path of a snapshot. */
export async function runExport(file: string, output: Output): Promise<void> {
  await writeLines(await exportDataset(file), output);
}

export async function runSeed({
  users,
  companies = Math.ceil(users / USERS_PER_COMPANY),
  seed,
  ...output
}: Output & { users: number; companies?: number | undefined; seed: number }): Promise<void> {
  const lines = seedDataset({ users, companies, seed });
  await writeLines(withEndLine(lines.map((line) => JSON.stringify(line))), output);
}

async function writeLines(lines: Iterable<string>, { to, force }: Output): Promise<void> {
  const chunks = chunksOf(lines);
  if (to === undefined) {
    for await (const chunk of chunks) if (!writeStdout(chunk)) return;
    return;
  }
  await endOnSignal((onCommit) =>
    replaceFile(
      to,
      async ({ path, old }) => {
        if (!force && existsSync(old)) await refuseForeign(old, to);
        // Never creates the file, because a signal may have removed it.
        await pipeline(chunks, createWriteStream(path, { flags: "r+" }));
      },
      { onCommit },
    ),
  );
}

/** Throws unless the file at `path` is empty or starts like a dataset. The error names `target`. */
async function refuseForeign(path: string, target: string): Promise<void> {
  try {
    for await (const [line] of readLines(decompress(readFileBytes(path)))) {
      const record = parseObject(line?.text ?? "");
      const parsed = record instanceof InvalidLine ? record : validateRecord(record);
      if (parsed instanceof InvalidLine) throw new Error("no line");
      return;
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
