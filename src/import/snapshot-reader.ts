/** Reads the records of a snapshot. */
import { setImmediate } from "node:timers/promises";
import type { Item, Location, RecordReader, SourceIds } from "../domain/record-reader.ts";
import { readMeta } from "../snapshot/format/meta.ts";
import type { VerifiedDatabase } from "../snapshot/format/open.ts";
import { openPrivate } from "../snapshot/format/open.ts";
import { listRecords } from "../snapshot/format/records.ts";

const BATCH = 500;

export class SnapshotReader implements RecordReader {
  readonly ids: SourceIds;
  readonly unknownColumns = [];
  readonly notes = [];
  readonly #path: string;
  readonly #db: VerifiedDatabase["db"];

  private constructor(path: string, db: VerifiedDatabase["db"]) {
    this.#path = path;
    this.#db = db;
    this.ids = { kind: "snapshot", mark: readMeta(db).id_map };
  }

  static async open(path: string): Promise<SnapshotReader> {
    const { db } = await openPrivate(path);
    return new SnapshotReader(path, db);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db.$client.close();
  }

  async *read(): AsyncGenerator<Iterable<Item>> {
    let batch: Item[] = [];
    let count = 0;
    for (const record of listRecords(this.#db)) {
      count++;
      batch.push({ record, at: count });
      if (batch.length < BATCH) continue;

      yield batch;
      batch = [];
      // Handles signals.
      await setImmediate();
    }
    yield batch;
  }

  /** A snapshot has no lines, so only the file is named. */
  locate(): Location {
    return { place: this.#path };
  }
}
