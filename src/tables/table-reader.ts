/**
 * Reads the records in tables: those of a folder of CSV files, or of a database that SELECTs are run
 * in. ../snapshot/README.md has the steps from a row to a snapshot.
 */
import {
  type Item,
  type LocatedError,
  OWN_IDS,
  type RawRecord,
  type RecordError,
  type RecordReader,
  type UnknownColumn,
} from "../domain/records.ts";
import { mustBeId } from "../domain/validation-errors.ts";
import { type Cells, idColumnOf, type TableName, tableOf } from "./columns.ts";
import { readCompanies } from "./companies.ts";
import {
  nameRow,
  type OpenedFile,
  openTable,
  type ReadHooks,
  type Table,
  type TableSource,
  toItems,
  toProblem,
} from "./table.ts";
import { readUsers } from "./user-reader.ts";

/** Reads the tables in `files`, which are paths of a folder or a single one, from a source. */
export function createReader(
  source: TableSource,
  files: ReadonlyMap<TableName, string>,
  hooks: ReadHooks,
): RecordReader {
  const tables = new Map<TableName, Table>();
  const notes: string[] = [];
  const unknownColumns: UnknownColumn[] = [];

  /** Yields all records, and the errors in all other rows. */
  async function* read(): AsyncGenerator<readonly Item[]> {
    // A wrong header is an error before any rows are counted.
    const opened = new Map<TableName, OpenedFile>();
    for (const [name, path] of files) {
      const file = await source.open(name, path);
      unknownColumns.push(...file.unknown);
      notes.push(...file.notes);
      opened.set(name, file);
    }
    for (const [name, file] of opened) {
      tables.set(name, await openTable(name, file, hooks));
    }

    for (const table of tables.values()) {
      const error = mustBeId(idColumnOf(table.name), undefined);
      const rows = await table.listWithoutId();
      yield rows.map((row) => toProblem(table, row, error));
    }

    const companies = await readCompanies(tables);
    const known = { role: new Set<unknown>(), achievement: new Set<unknown>() };
    // A user is written with the name of the company, so companies come before users.
    for (const type of ["role", "achievement", "company"] as const) {
      const table = tables.get(tableOf(type));
      if (!table) continue;
      const toRecord = (cells: Cells): RawRecord => {
        if (type === "company") return companies.toRecord(cells);
        known[type].add(cells.id);
        return { type, ...cells };
      };
      for await (const rows of table.pages()) yield toItems(table, rows, toRecord);
    }
    yield companies.make(notes);
    yield* readUsers(tables, known, companies);

    for (const table of tables.values()) table.checkComplete();
  }

  /** Names the row and the column of an error. */
  function locate({ line, ...error }: RecordError): LocatedError {
    const { type, field, id } = error;
    const table = type && tables.get(tableOf(type));
    // A company that was made from its name stands in no table.
    if (!table) return { error, isNamed: false };

    const hasNames = tables.get("users")?.columns.has("company");
    const isName = hasNames && field === "company.id";
    const column = isName ? "company" : field.replace(/^company\./, "company_");
    const place = nameRow(table, line, id);
    return { error: { ...error, field: column, place }, isNamed: line === undefined };
  }

  return {
    ids: OWN_IDS,
    read,
    notes,
    unknownColumns,
    locate,
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}
