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

/** Names the row and the column of an error in a record. */
export function locate(error: FoundError, source: TableSource, tables: Tables): Location {
  const { at, type, id, field, reason } = error;
  if (type === undefined || at === undefined) return {};

  const hasNames = tables.get("users")?.header.columns.has("company");
  const isName = hasNames && field === "company.id";
  return {
    field: isName ? "company" : field.replace(/^company\./, "company_"),
    reason: withCure(source, field, reason),
    place: nameRow(source, tableOf(type), at, id),
    placeHasId: !source.isSpreadsheet,
  };
}

/** Returns the item for a row that is no record. Such a row of `users` is a lost user. */
export function toProblem({ source, name }: Table, row: Row, problem: FoundError): Item {
  const cell = row[idColumnOf(name)];
  const place = nameRow(source, name, row.line, toKey(cell) ?? cell ?? "NULL");
  const reason = withCure(source, problem.field, problem.reason);
  return {
    problem,
    location: { place, reason },
    isFatal: false,
    losesUser: name === "users",
  };
}

function withCure({ isSpreadsheet }: TableSource, field: string, reason: string): string {
  const isMissing = isSpreadsheet && reason === "is missing";
  const cure = isMissing ? findColumn(field)?.ifMissing : undefined;
  return cure === undefined ? reason : `${reason}; ${cure}`;
}

/** Names a row for messages: `users.csv, line 12`, or `users.sql, id 42`. */
function nameRow(
  { isSpreadsheet, fileOf }: TableSource,
  table: TableName,
  line: number | undefined,
  id: unknown,
): string {
  return `${fileOf(table)}, ${isSpreadsheet ? `line ${line}` : `${idColumnOf(table)} ${id}`}`;
}
