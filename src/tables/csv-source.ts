/** Reads tables from CSV files. Loads them into a temporary database, because their rows are in any order. */
import { basename } from "node:path";
import { sqlite } from "#sqlite";
import { naming, TEMPORARY_DATABASE } from "../files/errors.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import type { IdFormat } from "./cells.ts";
import { type Header, idColumnOf, type TableName } from "./columns.ts";
import { type QuoteRule, readCsv, SAVE_AS_UTF8 } from "./csv-file.ts";
import { dialects, type Row, type TableSource } from "./table.ts";
import { DateColumn, type DateOrder, type DateOrders } from "./times.ts";

export interface CsvOptions {
  /** The order of day and month, where a column does not show it. */
  dates?: DateOrder | undefined;
  /** Whether quotes surround fields, where a file does not show it. */
  quotes?: QuoteRule | undefined;
  /** The title of the column of users that is taken as the id. */
  key?: string | undefined;
}

export function openCsvSource(ids: IdFormat, { dates, quotes, key }: CsvOptions): TableSource {
  const { $client: db } = sqlite.openTemporary();
  db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  const names = new Map<TableName, string>();
  /** The order of day and month in each column with times. */
  const orders = new Map<string, DateOrders>();

  return {
    // That of the temporary database.
    dialect: dialects.sqlite,
    isSpreadsheet: true,
    orderOf: (column) => orders.get(column),
    async open(table, path) {
      const name = basename(path);
      names.set(table, name);
      const file = { name, path, table, quotes, key: table === "users" ? key : undefined };
      const loader = createLoader(db, table, ids);
      const { header, note } = await naming(TEMPORARY_DATABASE, "write", () =>
        readCsv(file, loader.begin),
      );

      const notes = note === undefined ? [] : [note];
      loader.finish(name, header);
      for (const [column, dated] of loader.dated) {
        const place = `${name}: ${column}`;
        const found = dated.decide(place, dates);
        orders.set(column, found);
        notes.push(...dated.describe(place, found));
      }
      return { header, from: table, notes };
    },
    run: (_, sql) => naming(TEMPORARY_DATABASE, "write", async () => db.prepare<Row>(sql).all()),
    fileOf: (table) => names.get(table) ?? `${table}.csv`,
    async [Symbol.asyncDispose]() {
      db.close();
    },
  };
}

/** Loads one file into a table of the database. */
function createLoader(db: Sqlite, table: TableName, ids: IdFormat) {
  const idColumn = idColumnOf(table);
  /** The columns with times. */
  const dated = new Map<string, DateColumn>();
  let names = 0;
  /** How many names have no letter, but question marks. */
  let questionable = 0;

  function countName(name: string): void {
    if (name !== "") names++;
    if (name.includes("?") && !/[\p{L}\p{N}]/u.test(name)) questionable++;
  }

  /** Returns what adds a row. */
  function begin({ columns }: Header) {
    const titles = [...columns.keys()];
    for (const title of titles) {
      if (title.endsWith("_at")) dated.set(title, new DateColumn());
    }

    db.exec(`CREATE TABLE ${table} (${titles}, line)`);
    const insert = db.prepare(`INSERT INTO ${table} VALUES (${titles.map(() => "?")}, ?)`);
    return (cells: readonly string[], line: number): void => {
      const row = Array.from(columns, ([title, at]) => {
        const cell = cells[at] ?? "";
        dated.get(title)?.add(cell, line);
        if (title === "name") countName(cell);
        const id = title === idColumn && ids.read(cell);
        return typeof id === "number" || typeof id === "string" ? id : cell || null;
      });
      insert.run(...row, line);
    };
  }

  /**
   * Throws if most names are question marks. The index has all columns, so that a page is read from
   * one place. Rows with the same id are in the order of their lines.
   */
  function finish(file: string, { columns }: Header): void {
    if (questionable > 2 && 2 * questionable > names) {
      throw new Error(`${file}: most names are question marks; ${SAVE_AS_UTF8}`);
    }
    const indexed = new Set([idColumn, "line", ...columns.keys()]);
    db.exec(`CREATE INDEX ${table}_by_id ON ${table} (${[...indexed]})`);
  }

  return { dated, begin, finish };
}
