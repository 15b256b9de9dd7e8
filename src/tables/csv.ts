/**
 * Loads CSV files into a temporary database, in which rows can be joined that are in any order.
 * Never looks at a cell, except for the one that identifies the row.
 */
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type CsvError, parse } from "csv-parse";
import { sqlite } from "#sqlite";
import { readFileBytes } from "../files/lines.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { toInteger } from "./cells.ts";
import { checkColumns, findTables, keyOf, type TableName } from "./columns.ts";
import type { Row, Tables } from "./read-tables.ts";

/** The same as for the line of an NDJSON file. */
const MAX_ROW_BYTES = 2 ** 20;
const SAVE_AS = "save it as CSV UTF-8, or run: iconv -f WINDOWS-1252 -t UTF-8 FILE";

const problems: Partial<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "has a quote that is never closed",
  CSV_INVALID_CLOSING_QUOTE: "has text after a closing quote",
  INVALID_OPENING_QUOTE: 'has a quote inside a field; write it as "" and quote the field',
  CSV_MAX_RECORD_SIZE: "is longer than 1 MiB",
};

/** Reads the CSV files of a folder. `onRead` is called with the numbers of rows read. */
export async function openCsv(
  folder: string,
  onRead: (file: string, rows: number) => void,
): Promise<Tables> {
  const names = findTables(folder, "csv");
  // An empty path stands for a temporary file, which SQLite deletes.
  const { $client } = sqlite.openWritable("");
  const columns = new Map<TableName, string[]>();
  try {
    $client.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    for (const table of names) {
      columns.set(table, await load($client, folder, table, onRead));
    }
    $client.exec("COMMIT");
  } catch (error) {
    $client.close();
    throw error;
  }
  return {
    columns,
    ending: "csv",
    query: async (table, rest, selected = "*") =>
      $client.prepare<Row>(`SELECT ${selected} FROM ${table} AS q ${rest}`).all(),
    [Symbol.asyncDispose]: async () => $client.close(),
  };
}

/** Loads a file into a table of its name, and returns its columns. */
async function load(
  db: Sqlite,
  folder: string,
  table: TableName,
  onRead: (file: string, rows: number) => void,
): Promise<string[]> {
  const file = `${table}.csv`;
  let columns: string[] = [];
  let insert: ReturnType<Sqlite["prepare"]> | undefined;
  let [lines, doubled, rows, key] = [0, 0, 0, 0];

  function begin(header: string[]): void {
    columns = header.map((name) => name.trim());
    while (columns.at(-1) === "") columns.pop();
    checkColumns(file, table, columns);
    key = columns.indexOf(keyOf(table));
    db.exec(`CREATE TABLE ${table} (${columns}, line)`);
    insert = db.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => "?")}, ?)`);
  }

  function add(cells: string[], counted: number): void {
    const isSpread = counted - doubled > lines + 1;
    // The parser counts CRLF in a quoted field as two line breaks.
    if (isSpread) doubled += countMatches(cells, /\r\n/);
    lines = counted - doubled;
    const line = isSpread ? lines - countMatches(cells, /\r\n|\n|\r/) : lines;
    if (!insert) {
      begin(cells);
      return;
    }
    if (cells.length < columns.length || cells.slice(columns.length).some((cell) => cell !== "")) {
      const counts = `has ${cells.length} fields, but the header has ${columns.length}`;
      throw new Error(`${file}, line ${line}: ${counts} (a field with a separator must be quoted)`);
    }
    const values: (string | number | null)[] = columns.map((_, at) => cells[at] || null);
    const id = toInteger(cells[key]);
    insert.run(...values.with(key, typeof id === "number" ? id : (values[key] ?? null)), line);
    rows++;
    if (rows % 10_000 === 0) onRead(file, rows);
  }

  const [delimiter, bytes] = await findDelimiter(
    checkUtf8(file, readFileBytes(join(folder, file))),
  );
  const parser = parse({
    bom: true,
    delimiter,
    max_record_size: MAX_ROW_BYTES,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    on_record(cells: string[], { lines }) {
      add(cells, lines);
      return null;
    },
  });
  try {
    await pipeline(bytes, parser.resume());
  } catch (error) {
    const problem = problems[(error as CsvError).code];
    throw problem === undefined ? error : new Error(`${file}, line ${lines + 1}: ${problem}`);
  }
  if (!insert) throw new Error(`${file} is empty; its first line must have the names of columns`);
  // Has all columns, so that a page is read from one place.
  const others = columns.filter((name) => name !== keyOf(table));
  db.exec(`CREATE INDEX ${table}_by_id ON ${table} (${[keyOf(table), ...others, "line"]})`);
  return columns;
}

function countMatches(cells: string[], pattern: RegExp): number {
  return cells.reduce((sum, cell) => sum + cell.split(pattern).length - 1, 0);
}

/** Returns the most frequent separator of the first line, and all bytes. */
async function findDelimiter(
  bytes: AsyncGenerator<Uint8Array>,
): Promise<[string, AsyncGenerator<Uint8Array>]> {
  const { value: first = new Uint8Array() } = await bytes.next();
  const [header = ""] = new TextDecoder().decode(first).split(/[\r\n]/);
  const [delimiter = ","] = [",", ";", "\t"].sort(
    (a, b) => header.split(b).length - header.split(a).length,
  );
  async function* all() {
    yield first;
    yield* bytes;
  }
  return [delimiter, all()];
}

/** Yields bytes, and throws an error that names the first line that is not UTF-8. */
async function* checkUtf8(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let lines = 1;
  for await (const chunk of bytes) {
    try {
      utf8.decode(chunk, { stream: true });
    } catch {
      const [valid = ""] = new TextDecoder().decode(chunk).split("\ufffd");
      const line = lines + valid.split("\n").length - 1;
      throw new Error(`${file}, line ${line}: is not valid UTF-8\n  fix: ${SAVE_AS}`);
    }
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
    yield chunk;
  }
}
