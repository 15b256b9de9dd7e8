/** Reads records that are in memory and have the operator's ids. */
import type { RawRecord } from "../domain/dataset.ts";
import { type Item, type Location, OWN_IDS, type RecordReader } from "../domain/record-reader.ts";

export class ListReader implements RecordReader {
  readonly ids = OWN_IDS;
  readonly unknownColumns = [];
  readonly notes = [];
  readonly #records: readonly RawRecord[];

  /** An import changes these records. */
  constructor(records: readonly RawRecord[]) {
    this.#records = records;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async *read(): AsyncGenerator<Iterable<Item>> {
    yield this.#records.map((record, at) => ({ record, at }));
  }

  /** The id of a record is enough. */
  locate(): Location {
    return {};
  }
}
