/** Makes the changes of a change file to the rows of a database, and remembers which there were. */
import { sql } from "drizzle-orm";
import type { ChangeLine, RecordKey } from "../../domain/dataset.ts";
import type { FoundError, Place } from "../../domain/record-source.ts";
import { validateChange } from "../../domain/validate-record.ts";
import { DUPLICATE_ID } from "../../domain/validation-errors.ts";
import type { Database } from "../../sqlite/driver.ts";
import { nameCompanies, type Reference, RowWriter } from "./add-records.ts";
import type { Removals } from "./forget.ts";
import type { Ids } from "./ids.ts";
import type { RecordHandler } from "./read-dataset.ts";

export class ChangeWriter implements RecordHandler<ChangeLine> {
  readonly validate = validateChange;
  /** The records that the file deletes and that do not exist. */
  readonly notFound: { type: RecordKey["type"]; id: number | string }[] = [];
  /** The place of each change by the id of its record. */
  readonly placeOf = {
    role: new Map<number, Place>(),
    achievement: new Map<number, Place>(),
    company: new Map<number, Place>(),
    user: new Map<number, Place>(),
  };
  readonly #db: Database;
  readonly #ids: Ids;
  readonly #removals: Removals;
  readonly #writer: RowWriter;
  readonly #deletions: Reference[] = [];

  constructor(db: Database, ids: Ids, removals: Removals) {
    this.#db = db;
    this.#ids = ids;
    this.#removals = removals;
    this.#writer = new RowWriter(db, ids);
  }

  add(record: ChangeLine, at: Place): FoundError[] {
    const { type, id } = record;
    const first = this.placeOf[type].get(id);
    if (first !== undefined) {
      const reason = `duplicate ${type} id ${this.#ids.inSource(record)}`;
      return [{ field: "id", reason, kind: DUPLICATE_ID, first }];
    }
    this.placeOf[type].set(id, at);
    // A definition may make any user's list too long.
    if (type === "achievement") this.#writer.longestList = Number.POSITIVE_INFINITY;
    const existed = this.#removals.remove(record);
    if (!("deleted" in record)) return this.#writer.add(record, at);
    if (!existed) this.notFound.push({ type, id: this.#ids.inSource(record) });
    else if (type !== "user") this.#deletions.push({ type, id, at });
    return [];
  }

  *finish(): Generator<FoundError> {
    if (this.#deletions.length > 0) this.#writer.addDeletions(this.#deletions);
    yield* this.#writer.finish();
    // The members' rows hold the names, too.
    const companies = JSON.stringify([...this.placeOf.company.keys()]);
    nameCompanies(this.#db, sql`company_id IN (SELECT value FROM json_each(${companies}))`);
  }
}
