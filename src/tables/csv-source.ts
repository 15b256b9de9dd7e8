/**
 * Reads tables from CSV files. Loads them into a temporary database, because their rows are in any
 * order.
 */
import { basename } from "node:path";
import { sqlite } from "#sqlite";
import { isQuestionMarks } from "../domain/text.ts";
import { naming, TEMPORARY_DATABASE } from "../files/errors.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { columnsOf, type IdFormat, idColumnOf, type TableName, timesOf } from "./columns.ts";
import { findForm } from "./csv-form.ts";
import { SAVE_AS_UTF8 } from "./csv-lines.ts";
import { type QuoteRule, readRows } from "./csv-records.ts";
import { dialects } from "./dialects.ts";
import type { OpenedFile, Row, TableSource } from "./table.ts";
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
  const { $client: client } = sqlite.openTemporary();
  client.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");

  const run = (sql: string) =>
    naming(TEMPORARY_DATABASE, "write", async () => client.prepare<Row>(sql).all());

  async function open(table: TableName, path: string): Promise<OpenedFile> {
    const name = basename(path);
    const file = { name, path, table, quotes, idTitle: table === "users" ? key : undefined };
    const loader = createLoader(client, table, ids);
    const { form, notes } = await findForm(file);
    const header = await readRows(file, form, loader.add);
    if (loader.isMisread()) {
      throw new Error(`${name}: most names are question marks; ${SAVE_AS_UTF8}`);
    }
    loader.addIndex();

    const dateOrders = new Map<string, DateOrders>();
    for (const [column, times] of loader.times) {
      const decided = times.decide(`${name}: ${column}`, dates);
      dateOrders.set(column, decided.orders);
      notes.push(...decided.notes);
    }
    const format = { ids, dialect: dialects.sqlite, isSpreadsheet: true, dateOrders };
    return { ...header, file: name, notes: [...header.notes, ...notes], format, from: table, run };
  }

  return {
    open: (table, path) => naming(TEMPORARY_DATABASE, "write", () => open(table, path)),
    async [Symbol.asyncDispose]() {
      client.close();
    },
  };
}

/** Loads the rows of a file into a table of the database, and learns from them how they are written. */
function createLoader(client: Sqlite, table: TableName, ids: IdFormat) {
  const columns = columnsOf(table);
  const idColumn = idColumnOf(table);
  const times = new Map(timesOf(table).map((column) => [column, new DateColumn()]));
  let names = 0;
  let questionMarks = 0;

  client.exec(`CREATE TABLE ${table} (${columns.join(", ")}, line)`);
  const values = [...columns, "line"].map(() => "?").join(", ");
  const insert = client.prepare(`INSERT INTO ${table} VALUES (${values})`);

  return {
    times,
    add(cells: readonly string[], line: number): void {
      const row = columns.map((column, at) => {
        const cell = cells[at] ?? "";
        times.get(column)?.add(cell, line);
        if (column === "name" && cell !== "") {
          names++;
          if (isQuestionMarks(cell)) questionMarks++;
        }
        const id = column === idColumn && ids.read(cell);
        return typeof id === "number" || typeof id === "string" ? id : cell || null;
      });
      insert.run(...row, line);
    },
    /** Whether most names are what a program writes for letters that its encoding lacks. */
    isMisread: () => questionMarks > 2 && 2 * questionMarks > names,
    /**
     * The index has all columns, so that a page is read from one place. Rows with the same id are in
     * the order of their lines.
     */
    addIndex(): void {
      const indexed = [...new Set([idColumn, "line", ...columns])].join(", ");
      client.exec(`CREATE INDEX ${table}_by_id ON ${table} (${indexed})`);
    },
  };
}
