/** Turns rows of tables into records, and errors in rows into errors that say where the row is. */
import type { FoundError, Item, Location, RawRecord, RecordType } from "../domain/dataset.ts";
import { toKey } from "../domain/keys.ts";
import { InvalidCell, mustBeId } from "../domain/validation-errors.ts";
import { findColumn, idColumnOf, type TableName, tableOf, toCells } from "./columns.ts";
import type { Companies } from "./companies.ts";
import type { Row, Table, TableSource, Tables } from "./table.ts";

/** Returns the records in rows, which are in the order of their ids. Users may name `companies`. */
export function toItems(
  table: Table,
  type: RecordType,
  rows: readonly Row[],
  companies?: Companies,
): Item[] {
  const { source } = table;
  let first: Row | undefined;
  return rows.map((row): Item => {
    const cells = toCells(row, source);
    if (!source.ids.isId(cells.id)) return toProblem(table, row, mustBeId("id", cells.id));

    if (row.id !== first?.id) first = row;
    return {
      record: toRecord(type, cells, companies),
      at: row.line ?? NO_LINE,
      first: row === first ? undefined : first?.line,
    };
  });
}

/** The position of all records of a database, which are found by their ids. */
const NO_LINE = 0;

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
export function toProblem({ source, name }: Table, row: Row, problem: FoundError): Item {
  const cell = row[idColumnOf(name)];
  const id = toKey(cell) ?? cell ?? "NULL";
  const location = locateRow(source, name, problem, row.line, id);
  return { problem, location, isFatal: false, losesUser: name === "users" };
}

/** Names the row and the column of an error in a record. */
export function locate(error: FoundError, source: TableSource, tables: Tables): Location {
  const { at, type, id } = error;
  if (type === undefined || at === undefined) return {};

  const hasNames = tables.get("users")?.header.columns.has("company");
  const isName = hasNames && error.field === "company.id";
  const field = isName ? "company" : error.field.replace(/^company\./, "company_");
  return locateRow(source, tableOf(type), { ...error, field }, at, id);
}

/** Names a row as `users.csv, line 12`, or `users.sql, id 42`. */
function locateRow(
  { isSpreadsheet, fileOf }: TableSource,
  table: TableName,
  { field, reason }: FoundError,
  line: number | undefined,
  id: unknown,
): Location {
  const place = isSpreadsheet ? `line ${line}` : `${idColumnOf(table)} ${id}`;
  const cure = isSpreadsheet && reason === "is missing" ? findColumn(field)?.ifMissing : undefined;
  return {
    field,
    reason: cure === undefined ? reason : `${reason}; ${cure}`,
    place: `${fileOf(table)}, ${place}`,
    placeHasId: !isSpreadsheet,
  };
}
