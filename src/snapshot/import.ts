/**
 * Makes a snapshot of a dataset. Streams: a line is rows on disk before the next batch is read. The
 * snapshot appears at its path whole, or the path stays as it was.
 */
import { createHash } from "node:crypto";
import { sqlite } from "#sqlite";
import { type Fault, parseLine } from "../domain/dataset.ts";
import { formatTime } from "../domain/time.ts";
import { version } from "../domain/version.ts";
import { decompress, readLines } from "./lines.ts";
import { type Counts, countRows, writeMeta } from "./meta.ts";
import { buildNameIndex } from "./name-index.ts";
import { replaceFile } from "./replace.ts";
import { createRowWriter, type LineFault } from "./rows.ts";
import { createSchema } from "./schema.ts";
import type { Sqlite } from "./sqlite.ts";

/** Of a hopeless dataset this many faults are told, and how many there are. */
const MAX_TOLD = 20;

/** The dataset breaks its own rules; `message` has a line for each of the first faults. */
export class DatasetError extends Error {
  constructor(
    readonly faults: LineFault[],
    readonly count: number,
  ) {
    const told = faults.map(
      ({ line, field, reason }) => `line ${line}: ${field === "" ? "" : `${field}: `}${reason}`,
    );
    if (count > faults.length) told.push(`… and ${count - faults.length} more errors`);
    super(told.join("\n"));
    this.name = "DatasetError";
  }
}

/**
 * Imports a dataset (NDJSON bytes, plain, gzip or zstd) as the snapshot file `target`. Throws a
 * {@link DatasetError} when lines are wrong, and what the file system throws. After the last line,
 * `onIndexed` is told now and then what share (0 to 1) of the search index is built.
 */
export function importDataset(
  input: AsyncIterable<Uint8Array>,
  target: string,
  onIndexed?: (share: number) => void,
): Promise<Counts> {
  return replaceFile(target, async (path) => {
    const db = sqlite.openWritable(path);
    try {
      // The file is not the target yet: there is no old state to protect and nobody to lock out.
      // What the index gives back when its parts are merged is a seventh of the file.
      db.exec("PRAGMA auto_vacuum = FULL");
      db.exec("PRAGMA journal_mode = OFF");
      db.exec("PRAGMA synchronous = OFF");
      db.exec("PRAGMA locking_mode = EXCLUSIVE");
      db.exec("PRAGMA cache_size = -65536");
      createSchema(db);
      db.exec("BEGIN");
      const sha256 = await addLines(db, input);
      buildNameIndex(db, "company");
      buildNameIndex(db, "user", onIndexed);
      const counts = countRows(db);
      writeMeta(db, {
        built_at: formatTime(Math.floor(Date.now() / 1000)),
        dataset_sha256: sha256,
        roadbook_version: version,
        counts,
      });
      db.exec("COMMIT");
      return counts;
    } finally {
      db.close();
    }
  });
}

/** Returns the SHA-256 of the text. */
async function addLines(db: Sqlite, input: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  async function* text() {
    for await (const chunk of decompress(input)) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const writer = createRowWriter(db);
  const faults: LineFault[] = [];
  let count = 0;
  const tell = (line: number, found: Iterable<Fault>) => {
    for (const fault of found) {
      count++;
      if (faults.length < MAX_TOLD) faults.push({ ...fault, line });
    }
  };
  for await (const lines of readLines(text())) {
    for (const { number, text, problem = "" } of lines) {
      if (text === undefined) {
        tell(number, [{ field: "", reason: problem }]);
        continue;
      }
      const parsed = parseLine(text);
      tell(number, Array.isArray(parsed) ? parsed : writer.add(parsed, number));
    }
  }
  for (const fault of writer.listDangling()) tell(fault.line, [fault]);
  if (count > 0)
    throw new DatasetError(
      faults.sort((a, b) => a.line - b.line),
      count,
    );
  return hash.digest("hex");
}
