/** Turns rows of tables into records, and errors in rows into errors that say where the row is. */
import type { FoundError, Item, Location, RawRecord, RecordType } from "../domain/dataset.ts";
import { toKey } from "../domain/keys.ts";
import { InvalidCell, mustBeId, mustExist } from "../domain/validation-errors.ts";
import { createCellConverter, type IdFormat } from "./cells.ts";
import { idColumnOf, type TableName, tableOf } from "./columns.ts";
import type { CompanyNames } from "./company-names.ts";
import type { Row, TableSource } from "./table.ts";

export type RowConverter = ReturnType<typeof createRowConverter>;

export function createRowConverter(source: TableSource, ids: IdFormat) {
  const toCells = createCellConverter(ids, source);
  /** The number of records, which is the position of a record unless it has a line. */
  let count = 0;

  function withAdvice(field: string, reason: string): string {
    const isMissing = source.isSpreadsheet && reason === "is missing";
    const advice = isMissing ? MISSING[field] : undefined;
    return advice === undefined ? reason : `${reason}; ${advice}`;
  }

  /** Names a row for messages: `users.csv, line 12`, or `users.sql, id 42`. */
  function nameRow(table: TableName, line: number | undefined, id: unknown): string {
    const place = source.isSpreadsheet ? `line ${line}` : `${idColumnOf(table)} ${id}`;
    return `${source.fileOf(table)}, ${place}`;
  }

  /** Returns the item for a row that is no record. Such a row of `users` is a lost user. */
  function toProblem(table: TableName, row: Row, problem: FoundError): Item {
    const cell = row[idColumnOf(table)];
    const place = nameRow(table, row.line, toKey(cell) ?? cell ?? "NULL");
    const location = { place, reason: withAdvice(problem.field, problem.reason) };
    return { problem, location, isFatal: false, losesUser: table === "users" };
  }

  return {
    /** Converts the cells of a row. Those that are null are left out. */
    toCells,
    toProblem,
    /** Returns the records in rows, which are in the order of their ids. Users may name `companies`. */
    toRecords(type: RecordType, rows: readonly Row[], companies?: CompanyNames): Item[] {
      let first: Row | undefined;
      return rows.map((row): Item => {
        const cells = toCells(row);
        if (!ids.isId(cells.id)) return toProblem(tableOf(type), row, mustBeId("id", cells.id));

        if (row.id !== first?.id) first = row;
        count++;
        return {
          record: toRecord(type, cells, companies),
          at: row.line ?? count,
          first: row === first ? undefined : first?.line,
        };
      });
    },

    /** Returns the error for a reference to a record that does not exist. */
    explainMissing(type: RecordType, id: unknown): FoundError {
      const field = `${type}_id`;
      if (!ids.isId(id)) return mustBeId(field, id);
      return { ...mustExist(field, type, id), missing: { type, id } };
    },

    /** Names the row and the column of an error in a record. `companies` are those that users name. */
    locate(error: FoundError, companies: CompanyNames | undefined): Location {
      const { at, type, id, field, reason } = error;
      if (type === undefined || at === undefined) return {};

      const isName = companies && field === "company.id";
      return {
        field: isName ? "company" : field.replace(/^company\./, "company_"),
        reason: withAdvice(field, reason),
        place: nameRow(tableOf(type), at, id),
        placeHasId: !source.isSpreadsheet,
      };
    },
  };
}

/** The cures for missing cells in a CSV file. Sheets of people often end in a total. */
const MISSING: Partial<Record<string, string>> = {
  id: "write one, or remove the row if it is a total or a note",
  name: "write one, in quotes if it is NULL",
  public: "write yes or no, or remove the row if it is a total or a note",
  created_at:
    "write the day of joining, or the platform's first, or remove the row if it is a total or a note; " +
    "--skip-invalid makes such users private",
};

function toRecord(type: RecordType, cells: RawRecord, companies?: CompanyNames): RawRecord {
  const { company_id, company, company_role = "Member", ...fields } = cells;
  // For a private user, the id is enough.
  if (fields.public === false) return { type, id: fields.id, public: false };

  const id = company === undefined ? company_id : companies?.find(company);
  // An invalid name takes the place of the company, so that validation quotes it.
  if (id instanceof InvalidCell) fields.company = id;
  else if (id !== undefined) fields.company = { id, role: company_role };
  return { type, ...fields };
}
