/**
 * The SQL around an operator's SELECT: reads the rows of a table in pages, by their id or by the id
 * of their user.
 */
import { isUtf8 } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import { readFileBytes } from "../files/input.ts";
import type { CellOrigin } from "./cells.ts";
import { type Header, keyOf, readHeader, type TableName } from "./columns.ts";

/** The cells of a row by column. `line` is the line in a CSV file. */
export type Row = Record<string, unknown>;

/** A database, or a temporary one with the rows of CSV files. All queries see the same data. */
export interface Source extends AsyncDisposable, CellOrigin {
  readonly ending: "csv" | "sql";
  load?(table: TableName, path: string): Promise<Header>;
  run(sql: string): Promise<{ rows: Row[]; columns: string[] }>;
}

export interface Reporting {
  /** Called repeatedly with the number of rows of a file that have been read. */
  onRead?: ((file: string, rows: number) => void) | undefined;
  /** Called once for each query of which a page takes longer than half a second. */
  onSlow?: ((file: string) => void) | undefined;
}

// The rows of a page are in memory. With 5,000 users, importing 400,000 took 334 instead of 257 MB.
const USERS_PER_PAGE = 1000;
const ROWS_PER_PAGE = 20_000;
/** A page of a query that uses an index takes a few milliseconds. */
const SLOW_MS = 500;

export type Table = Awaited<ReturnType<typeof openTable>>;

export async function openTable(
  source: Source,
  name: TableName,
  path: string,
  { onRead, onSlow }: Reporting,
) {
  const file = `${name}.${source.ending}`;
  const column = keyOf(name);
  const key = `q.${column}`;
  const size = column === "id" ? USERS_PER_PAGE : ROWS_PER_PAGE;
  const literalOf = (id: unknown) => formatLiteral(source.dialect, id);
  const run = (sql: string) =>
    source.run(sql).catch((error) => {
      throw new Error(`${file}: ${error.message}`);
    });
  const loaded = await source.load?.(name, path);
  const { header, from } = loaded
    ? { header: loaded, from: name }
    : await openSelect(file, name, path, source.dialect, run);
  let [unread, isSlow] = [0, false];

  async function query(rest: string, columns = "*"): Promise<Row[]> {
    // Handles signals, because SQLite's queries are synchronous.
    await setImmediate();
    return (await run(`SELECT ${columns} FROM ${from} AS q ${rest}`)).rows;
  }

  /** Counts the rows, and lists those without an id, which the pages leave out. */
  async function listWithoutId(): Promise<Row[]> {
    unread = Number((await query("", `COUNT(${key}) AS total`))[0]?.total);
    return query(`WHERE ${key} IS NULL`);
  }

  /**
   * Yields the rows whose id is above that of `after` and at most that of `upTo`, in the database's
   * order of their ids. Rows whose ids are equal for the database are in the same page.
   */
  async function* pages(after?: Row, upTo?: Row): AsyncGenerator<Row[]> {
    let start = after ? `${key} > ${literalOf(after.id)}` : `${key} IS NOT NULL`;
    const end = upTo ? ` AND ${key} <= ${literalOf(upTo.id)}` : "";
    let count = 0;
    for (let isFull = true; isFull; ) {
      if (column === "id") onRead?.(file, count);
      const began = performance.now();
      // The ids are in the text, because with parameters, MariaDB reads whole tables.
      let rows = await query(`WHERE ${start}${end} ORDER BY ${key} LIMIT ${size + 1}`);
      if (!loaded && !isSlow && performance.now() - began > SLOW_MS) {
        isSlow = true;
        onSlow?.(file);
      }
      isFull = rows.length > size;
      const [next] = rows.splice(size);
      const last = literalOf(rows.at(-1)?.[column]);
      // A collation can equate ids that differ, such as a and A, so only the database can tell.
      if (next && (typeof next[column] === "string" || literalOf(next[column]) === last)) {
        const ties = await query(`WHERE ${key} = ${last}`);
        const tied = new Set(ties.map((row) => literalOf(row[column])));
        const untied = rows.findLastIndex((row) => !tied.has(literalOf(row[column]))) + 1;
        rows = [...rows.slice(0, untied), ...ties];
      }
      count += rows.length;
      unread -= rows.length;
      check(unread >= 0);
      if (rows.length > 0) yield rows;
      start = `${key} > ${last}`;
    }
    if (column === "id") onRead?.(file, count);
  }

  /** Throws if the pages do not have the same rows as the table. */
  function check(isPossible: boolean): void {
    if (isPossible) return;
    const advice = "CAST it to the same type in all queries";
    throw new Error(`${file}: ${column} is not sorted as it is compared; ${advice}`);
  }

  return { header, query, listWithoutId, pages, finish: () => check(unread <= 0) };
}

/** Reads a SELECT. Returns what follows FROM, with the names of columns as they are known here. */
async function openSelect(
  file: string,
  name: TableName,
  path: string,
  dialect: Source["dialect"],
  run: Source["run"],
) {
  const bytes = Buffer.concat(await Array.fromAsync(readFileBytes(path)));
  if (!isUtf8(bytes)) throw new Error(`${file} is not valid UTF-8`);
  const text = new TextDecoder().decode(bytes);
  const from = `(${trimQuery(text, dialect)})`;
  const { columns } = await run(`SELECT * FROM ${from} AS q WHERE 1 = 0`);
  const header = readHeader(file, name, columns);
  if (columns.every((column, at) => header.places.get(column) === at)) return { header, from };
  const quote = dialect === "mysql" ? "`" : '"';
  const quoted = columns.map((column) => quote + column.replaceAll(quote, quote + quote) + quote);
  const known = Array.from(header.places, ([column, at]) => `${quoted[at]} AS ${column}`);
  return { header, from: `(SELECT ${known} FROM ${from} AS written)` };
}

/**
 * The parts of a query: what can be left out after its end (comments, semicolons and white space,
 * in group 1), and what cannot. In quotes, a semicolon or a comment means nothing.
 */
const parts: Record<Source["dialect"], RegExp> = {
  sqlite: /(--[^\n]*|\/\*.*?(?:\*\/|$)|[\s;])|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|./gs,
  mysql:
    /(--(?=\s|$)[^\n]*|#[^\n]*|\/\*.*?\*\/|[\s;])|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|./gs,
  postgres:
    /(--[^\n]*|\/\*.*?\*\/|[\s;])|\bE'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|\$(\w*)\$.*?\$\2\$|./gis,
};

/** Removes what follows the query, because a semicolon is an error in a subquery. */
function trimQuery(text: string, dialect: Source["dialect"]): string {
  let end = 0;
  for (const { 0: part, 1: omitted, index } of text.matchAll(parts[dialect])) {
    if (omitted === undefined) end = index + part.length;
  }
  return text.slice(0, end);
}

/**
 * Writes an id, as the database returned it, into the text of a query. The database compares this
 * literal with a column as it compares the column's own values: by its type and its collation.
 */
function formatLiteral(dialect: Source["dialect"], id: unknown): string {
  if (typeof id === "number" || typeof id === "bigint") return String(id);
  const isText = !(id instanceof Uint8Array);
  const hex = Buffer.from(isText ? String(id) : id).toString("hex");
  if (dialect === "postgres") {
    // A literal without a type gets the column's, such as uuid.
    return isText ? `E'${String(id).replaceAll(/['\\]/g, "\\$&")}'` : `E'\\\\x${hex}'`;
  }
  if (!isText) return `X'${hex}'`;
  // No quotes, so the text cannot end the literal, whatever the server's SQL mode. The plus removes
  // the affinity of the cast, which could convert the column.
  return dialect === "mysql" ? `_utf8mb4 X'${hex}'` : `+CAST(X'${hex}' AS TEXT)`;
}
