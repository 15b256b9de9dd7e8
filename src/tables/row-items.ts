/**
 * Makes an item of a row: the record in it, which is validated later like a line of a dataset, or what
 * is wrong with the row.
 */
import type { Finding, RawRecord, RecordType } from "../domain/raw-records.ts";
import type { Item, ProblemItem } from "../domain/record-reader.ts";
import { toKey } from "../domain/source-ids.ts";
import { InvalidCell, mustBeId } from "../domain/validation-errors.ts";
import { idColumnOf, toCells } from "./columns.ts";
import type { Companies } from "./companies.ts";
import type { Row, Table } from "./table.ts";

/** Returns the records in rows. Users may name `companies`. */
export function toItems(
  table: Table,
  type: RecordType,
  rows: readonly Row[],
  companies?: Companies,
): Item[] {
  const { format } = table;
  return rows.map((row): Item => {
    const cells = toCells(row, format);
    if (!format.ids.isId(cells.id)) return toProblem(table, row, mustBeId("id", cells.id));

    return { record: toRecord(type, cells, companies), line: row.line };
  });
}

function toRecord(type: RecordType, cells: RawRecord, companies?: Companies): RawRecord {
  const { company_id, company, company_role = "Member", ...fields } = cells;
  // For a private user, the id is enough.
  if (fields.public === false) return { type, id: fields.id, public: false };

  const id = company === undefined ? company_id : companies?.find(company);
  // An invalid name takes the place of the company, so that validation quotes it.
  if (id instanceof InvalidCell) fields.company = id;
  else if (id !== undefined) fields.company = { id, role: company_role };
  return { type, ...fields };
}

/** Returns the item for a row that is no record. */
export function toProblem(table: Table, row: Row, problem: Finding): ProblemItem {
  const cell = row[idColumnOf(table.name)];
  const place = nameRow(table, row.line, toKey(cell) ?? cell ?? "NULL");
  return { problem, place, leavesOut: table.name === "users" ? "user" : "row" };
}

/** Names a row as `users.csv, line 12`, or `users.sql, id 42` if it has no line. */
export function nameRow({ name, file }: Table, line: number | undefined, id: unknown): string {
  return `${file}, ${line === undefined ? `${idColumnOf(name)} ${id}` : `line ${line}`}`;
}
