/** Makes the changes of a change file to the rows of a database, and remembers which there were. */
import { sql } from "drizzle-orm";
import { type ChangeLine, type RecordKey, validateChange } from "../../domain/dataset.ts";
import type { LineError } from "../../domain/record-source.ts";
import { DUPLICATE_ID, type ValidationError } from "../../domain/validation-errors.ts";
import type { Database } from "../../sqlite/driver.ts";
import { nameCompanies, type Reference, RowWriter } from "./add-records.ts";
import type { Removals } from "./forget.ts";
import type { Ids } from "./ids.ts";
import type { RecordHandler } from "./read-dataset.ts";

export class ChangeWriter implements RecordHandler<ChangeLine> {
  readonly validate = validateChange;
  /** The records that the file deletes and that do not exist. */
  readonly notFound: { type: RecordKey["type"]; id: number | string }[] = [];
  /** The line number of each change. */
  readonly lineOf = {
    role: new Map<number, number>(),
    achievement: new Map<number, number>(),
    company: new Map<number, number>(),
    user: new Map<number, number>(),
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

  add(line: ChangeLine, number: number): ValidationError[] {
    const { type, id } = line;
    const first = this.lineOf[type].get(id);
    if (first !== undefined) {
      const reason = `duplicate ${type} id ${this.#ids.inSource(line)} (first on line ${first})`;
      return [{ field: "id", reason, kind: DUPLICATE_ID }];
    }
    this.lineOf[type].set(id, number);
    // A definition may make any user's list too long.
    if (type === "achievement") this.#writer.longestList = Number.POSITIVE_INFINITY;
    const existed = this.#removals.remove(line);
    if (!("deleted" in line)) return this.#writer.add(line, number);
    if (!existed) this.notFound.push({ type, id: this.#ids.inSource(line) });
    else if (type !== "user") this.#deletions.push({ type, id, line: number });
    return [];
  }

  *finish(): Generator<LineError> {
    if (this.#deletions.length > 0) this.#writer.addDeletions(this.#deletions);
    yield* this.#writer.finish();
    // The members' rows hold the names, too.
    const companies = JSON.stringify([...this.lineOf.company.keys()]);
    nameCompanies(this.#db, sql`company_id IN (SELECT value FROM json_each(${companies}))`);
  }
}
