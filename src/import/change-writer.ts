/** Makes the changes of a change file to the rows of a database, and remembers which there were. */
import type { ChangeLine } from "../domain/dataset.ts";
import type { FoundError, Position } from "../domain/record-reader.ts";
import { validateChange } from "../domain/validate-record.ts";
import { NameChanges } from "../search/name-index.ts";
import type { Database } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { RecordHandler, Report } from "./record-handler.ts";
import { duplicateId, RowWriter } from "./row-writer.ts";
import { TakedownWriter } from "./takedowns.ts";
import type { WriteReport } from "./write-report.ts";

export class ChangeWriter implements RecordHandler<ChangeLine> {
  readonly validate = validateChange;
  /** The records that the file deletes and that do not exist. */
  readonly notFound: WriteReport["notFound"] = [];
  /** The position of each change by the id of its record. */
  readonly positionOf = {
    role: new Map<number, Position>(),
    achievement: new Map<number, Position>(),
    company: new Map<number, Position>(),
    user: new Map<number, Position>(),
  };
  readonly #ids: Ids;
  readonly #rows: RowWriter;
  readonly #names: NameChanges;
  readonly #takedowns: TakedownWriter;

  /** `nowMs` is the time of the takedowns. */
  constructor(db: Database, ids: Ids, nowMs: number) {
    this.#ids = ids;
    this.#rows = new RowWriter(db, ids);
    this.#names = new NameChanges(db.$client);
    this.#takedowns = new TakedownWriter(db, nowMs);
  }

  /** A record replaces the one with the same id. */
  add(record: ChangeLine, at: Position): FoundError[] {
    const { type, id } = record;
    const first = this.positionOf[type].get(id);
    if (first !== undefined) return [{ ...duplicateId(record, this.#ids), first }];

    this.positionOf[type].set(id, at);
    this.#takedowns.note(record);
    if (type === "user" || type === "company") this.#names.note(type, id);
    if (type === "achievement") this.#rows.recheckLongUsers();

    const existed = this.#rows.remove(record);
    if (!("deleted" in record)) return this.#rows.add(record, at);

    if (!existed) this.notFound.push({ type, id: this.#ids.inSource(record) });
    else if (type !== "user") this.#rows.noteDeletion(record, at);
    return [];
  }

  /** How many more achievements are unlocked than before. */
  get unlocked(): number {
    return this.#rows.unlocked;
  }

  finish(report: Report): void {
    this.#rows.finish(report);
    this.#rows.nameMembers(this.positionOf.company.keys());
  }

  /** Brings the name indexes in line with the rows. */
  indexNames(): void {
    this.#names.finish();
  }
}
