/**
 * Makes an item of each row: the record that is made of its cells, or what is wrong with the row. The
 * record is validated later, like a line of a dataset.
 */
import type { Finding, Item, ProblemItem, RawRecord } from "../domain/records.ts";
import { toKey } from "../domain/source-ids.ts";
import { mustBeId } from "../domain/validation-errors.ts";
import { type Cells, idColumnOf, toCells } from "./columns.ts";
import type { Row, Table } from "./table.ts";

/** The cells of a row with an id, of which a record is made; otherwise a problem. */
export type CheckedRow = { cells: Cells; line: number | undefined } | ProblemItem;

export function checkRows(table: Table, rows: readonly Row[]): CheckedRow[] {
  const { format } = table;
  return rows.map((row) => {
    const cells = toCells(row, format);
    if (!format.ids.isId(cells.id)) return toProblem(table, row, mustBeId("id", cells.id));
    return { cells, line: row.line };
  });
}

export function toItems(
  rows: readonly CheckedRow[],
  toRecord: (cells: Cells) => RawRecord,
): Item[] {
  return rows.map((row) => {
    return "problem" in row ? row : { record: toRecord(row.cells), line: row.line };
  });
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
