/** Loads CSV files into a temporary database, in which rows in any order can be joined. */
import { pipeline } from "node:stream/promises";
import { CsvError, parse } from "csv-parse";
import { sqlite } from "#sqlite";
import { toKey } from "../domain/validation-errors.ts";
import { reasonOf } from "../files/errors.ts";
import { readFileBytes } from "../files/input.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { toInteger } from "./cells.ts";
import { type Header, keyOf, readHeader, type TableName } from "./columns.ts";
import { DateColumn, type DateOrder } from "./date-order.ts";
import type { Row, Source } from "./queries.ts";

const MAX_ROW_BYTES = 2 ** 20;
const MAX_FIELDS = 1000;

/** With `hasKeys`, ids are kept as text. `dates` is the order of days and months, if it is known. */
export function openCsv(hasKeys: boolean, dates?: DateOrder): Source {
  // An empty path stands for a temporary file, which SQLite deletes.
  const { $client } = sqlite.openWritable("");
  $client.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  const orders = new Map<string, DateOrder | undefined>();
  const onDates = (column: string, found: DateColumn) =>
    orders.set(column, dates ?? found.decide());
  return {
    ending: "csv",
    dialect: "sqlite",
    load: (table, path) => load($client, table, path, hasKeys ? toKey : toInteger, onDates),
    csv: { orderOf: (column) => orders.get(column) },
    run: async (sql) => ({ rows: $client.prepare<Row>(sql).all(), columns: [] }),
    [Symbol.asyncDispose]: async () => $client.close(),
  };
}

async function load(
  db: Sqlite,
  table: TableName,
  path: string,
  toId: (cell: unknown) => unknown,
  onDates: (column: string, found: DateColumn) => void,
): Promise<Header> {
  const file = `${table}.csv`;
  const key = keyOf(table);
  let width = 0;
  let header: Header | undefined;
  let insert: ReturnType<Sqlite["prepare"]> | undefined;
  /** The columns with times. */
  const dated = new Map<string, DateColumn>();
  /** The line on which the last record ends. */
  let lines = 0;

  function add(cells: string[]): void {
    if (cells.every((cell) => cell.trim() === "")) return;
    if (!header) {
      // Tells Excel the separator, which findDelimiter has found in this line.
      if (/^sep=.?$/i.test(cells.join(""))) return;
      width = cells.findLastIndex((name) => name.trim() !== "") + 1;
      header = readHeader(file, table, cells.slice(0, width));
      const columns = [...header.places.keys()];
      for (const name of columns) if (name.endsWith("_at")) dated.set(name, new DateColumn());
      db.exec(`CREATE TABLE ${table} (${columns}, line)`);
      insert = db.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => "?")}, ?)`);
      return;
    }
    if (cells.length < width || cells.slice(width).some((cell) => cell !== "")) {
      const counts = `has ${cells.length} fields, but the header has ${width}`;
      throw problem(`${counts} (a field with a separator must be quoted)`);
    }
    const values = Array.from(header.places, ([name, at]) => {
      dated.get(name)?.add(cells[at] ?? "", lines + 1);
      const id = name === key && toId(cells[at]);
      return typeof id === "number" || typeof id === "string" ? id : cells[at] || null;
    });
    insert?.run(...values, lines + 1);
  }

  const problem = (reason: string) => new Error(`${file}, line ${lines + 1}: ${reason}`);
  const texts = decode(file, readFileBytes(path));
  const { value: start = "" } = await texts.next();
  const parser = parse({
    delimiter: findDelimiter(start),
    max_record_size: MAX_ROW_BYTES,
    record_delimiter: "\n",
    relax_column_count: true,
    // The size of a record does not count its separators, and each field takes memory.
    cast(cell: string, { index }) {
      if (index < MAX_FIELDS) return cell;
      throw problem("has more than 1,000 fields");
    },
    on_record(cells: string[], context) {
      add(cells);
      lines = context.lines;
      return null;
    },
  });
  parser.write(start);
  try {
    await pipeline(texts, parser.resume());
  } catch (error) {
    const bad = "a quote is misplaced or never closed, or the record is longer than 1 MiB";
    throw error instanceof CsvError ? problem(bad) : error;
  }
  if (!header) throw new Error(`${file} is empty; its first line must name the columns`);
  for (const [name, found] of dated) {
    try {
      onDates(name, found);
    } catch (error) {
      throw new Error(`${file}: ${name}: ${reasonOf(error)}`);
    }
  }
  // The index has all columns, so that a page is read from one place. Rows with the same id are in
  // the order of their lines.
  const others = [...header.places.keys()].filter((name) => name !== key);
  db.exec(`CREATE INDEX ${table}_by_id ON ${table} (${[key, "line", ...others]})`);
  return header;
}

/** Returns the most frequent separator of the first line that is not blank. */
function findDelimiter(text: string): string {
  const header = text.split("\n").find((line) => /[^\s,;"]/.test(line)) ?? "";
  const count = (delimiter: string) => header.split(delimiter).length;
  return [",", ";", "\t"].reduce((best, other) => (count(other) > count(best) ? other : best));
}

/**
 * Decodes UTF-8 and drops a BOM. Lines then end with a line feed: csv-parse would count each CR as a
 * line. If the first line ends with a CR alone, all lines do; otherwise such a CR is a space.
 */
async function* decode(file: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let held = "";
  let loneReturn: string | undefined;
  try {
    for await (const chunk of bytes) {
      const text = held + utf8.decode(chunk, { stream: true });
      const whole = text.replace(/\r+$/, "");
      // Belongs to what follows.
      held = text.slice(whole.length);
      const [end] = /\r+\n|\r|\n/.exec(whole) ?? [];
      if (end !== undefined) loneReturn ??= end === "\r" ? "\n" : " ";
      yield whole.replace(/\r+\n/g, "\n").replaceAll("\r", loneReturn ?? " ");
    }
    yield utf8.decode();
  } catch (error) {
    const problem = new Error(`${file} is not valid UTF-8; save it as CSV UTF-8`);
    throw error instanceof TypeError ? problem : error;
  }
}
