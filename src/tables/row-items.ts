/**
 * Makes an item of a row: the record in it, which is validated later like a line of a dataset, or what
 * is wrong with it. Also says where an error is.
 */
import type { Finding, PlacedFinding, RawRecord, RecordType } from "../domain/raw-records.ts";
import type { Item } from "../domain/record-reader.ts";
import { toKey } from "../domain/source-ids.ts";
import { InvalidCell, mustBeId } from "../domain/validation-errors.ts";
import { idColumnOf, tableOf, toCells } from "./columns.ts";
import type { Companies } from "./companies.ts";
import type { Row, Table, Tables } from "./table.ts";

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

    return { record: toRecord(type, cells, companies), line: row.line ?? 0 };
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

/** Returns the item for a row that is no record. Such a row of `users` is a lost user. */
export function toProblem(table: Table, row: Row, problem: Finding): PlacedFinding {
  const cell = row[idColumnOf(table.name)];
  const id = toKey(cell) ?? cell ?? "NULL";
  return { ...locateRow(table, problem, row.line, id), losesUser: table.name === "users" };
}

/** Names the row and the column of an error in a record. */
export function locate(error: PlacedFinding, tables: Tables): PlacedFinding {
  const { line, type, id } = error;
  const table = type && tables.get(tableOf(type));
  // A company that was made from its name stands in no table.
  if (!table) return { ...error, line: undefined };

  const hasNames = tables.get("users")?.header.columns.has("company");
  const isName = hasNames && error.field === "company.id";
  const field = isName ? "company" : error.field.replace(/^company\./, "company_");
  return locateRow(table, { ...error, field }, line, id);
}

/** Names a row as `users.csv, line 12`, or `users.sql, id 42` if its line is not known. */
function locateRow(
  { name, file }: Table,
  error: PlacedFinding,
  line: number | undefined,
  id: unknown,
): PlacedFinding {
  const place = `${file}, ${line ? `line ${line}` : `${idColumnOf(name)} ${id}`}`;
  return { ...error, line: undefined, place, hasId: error.hasId || !line };
}
