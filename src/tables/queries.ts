/**
 * The SQL around an operator's SELECT: reads the rows of a table in pages, by their id or by the id
 * of their user.
 */
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { type Header, keyOf, readHeader, type TableName } from "./columns.ts";

/** The cells of a row by column. `line` is the line in a CSV file. */
export type Row = Record<string, unknown>;

/** A database, or one with the rows of CSV files. All queries see the same data. */
export interface Source extends AsyncDisposable {
  /** The ending of the tables' files. */
  readonly ending: "csv" | "sql";
  readonly dialect: "sqlite" | "postgres" | "mysql";
  /** Loads a CSV file into a table. Missing if the file of a table has a SELECT. */
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

/** With `hasKeys`, ids can be of any kind; see `toKey`. */
export async function openTable(
  source: Source,
  name: TableName,
  path: string,
  hasKeys: boolean,
  { onRead, onSlow }: Reporting,
) {
  const file = `${name}.${source.ending}`;
  const column = keyOf(name);
  const key = `q.${column}`;
  const size = column === "id" ? USERS_PER_PAGE : ROWS_PER_PAGE;
  const literalOf = (row: Row) => formatLiteral(source.dialect, row[column]);
  const run = (sql: string) =>
    source.run(sql).catch((error) => {
      throw new Error(`${file}: ${error.message}`);
    });
  const header = await source.load?.(name, path);
  const select = header ? { header, from: name } : await openSelect(source, name, path, run);
  /** With keys, how many rows have not been read. */
  let unread = 0;
  let isSlow = false;

  async function query(rest: string, columns = "*"): Promise<Row[]> {
    return (await run(`SELECT ${columns} FROM ${select.from} AS q ${rest}`)).rows;
  }

  /** Throws if rows may be lost, because the database does not sort ids as it compares them. */
  function checkOrder(rows: Row[], isLast = false): void {
    unread -= rows.length;
    const ids = rows.map((row) => Number(row[column])).filter(Number.isSafeInteger);
    const isLost = hasKeys
      ? unread < 0 || (isLast && unread > 0)
      : !source.load && ids.some((id, at) => id < (ids[at - 1] ?? id));
    if (!isLost) return;
    const advice = `CAST ids in all queries to ${hasKeys ? "text" : "numbers"}`;
    throw new Error(`${file}: ${column} is not sorted as it is compared; ${advice}`);
  }

  return {
    name,
    file,
    header: select.header,
    query,

    /** Lists the rows without an id, which the pages leave out. */
    async listWithoutId(): Promise<Row[]> {
      if (hasKeys) unread = Number((await query("", `COUNT(${key}) AS total`))[0]?.total);
      return query(`WHERE ${key} IS NULL`);
    },

    /**
     * Yields the rows whose id is above that of `after` and at most that of `upTo`, in the
     * database's order of their ids. Rows whose ids are equal for the database are in one page.
     */
    async *pages(after?: Row, upTo?: Row): AsyncGenerator<Row[]> {
      let start = after
        ? `${key} > ${formatLiteral(source.dialect, after.id)}`
        : `${key} IS NOT NULL`;
      const end = upTo ? ` AND ${key} <= ${formatLiteral(source.dialect, upTo.id)}` : "";
      let count = 0;
      for (let isFull = true; isFull; ) {
        if (column === "id") onRead?.(file, count);
        // The ids are in the text, because with parameters, MariaDB reads whole tables.
        const began = performance.now();
        let rows = await query(`WHERE ${start}${end} ORDER BY ${key} LIMIT ${size + 1}`);
        if (!source.load && !isSlow && performance.now() - began > SLOW_MS) {
          isSlow = true;
          onSlow?.(file);
        }
        isFull = rows.length > size;
        const [next] = rows.splice(size);
        const [last] = rows.slice(-1).map(literalOf);
        // A collation can equate ids that differ, such as a and A, so only the database can tell.
        if (next && (typeof next[column] === "string" || literalOf(next) === last)) {
          const ties = await query(`WHERE ${key} = ${last}`);
          const tied = new Set(ties.map(literalOf));
          const untied = rows.findLastIndex((row) => !tied.has(literalOf(row))) + 1;
          rows = [...rows.slice(0, untied), ...ties];
        }
        checkOrder(rows);
        count += rows.length;
        if (rows.length > 0) yield rows;
        start = `${key} > ${last}`;
      }
      if (column === "id") onRead?.(file, count);
    },

    /** Throws if the pages did not have all rows. */
    finish: () => checkOrder([], true),
  };
}

/** Reads a SELECT. Returns what follows FROM, with the names of columns as they are known here. */
async function openSelect(
  { dialect }: Source,
  name: TableName,
  path: string,
  run: Source["run"],
): Promise<{ from: string; header: Header }> {
  const file = `${name}.sql`;
  const bytes = readFileSync(path);
  if (!isUtf8(bytes)) throw new Error(`${file} is not valid UTF-8`);
  // The line break ends a comment on the last line.
  const from = `(${trimQuery(bytes.toString().replace(/^\ufeff/, ""), dialect)}\n)`;
  const { columns } = await run(`SELECT * FROM ${from} AS q WHERE 1 = 0`);
  const header = readHeader(file, name, columns);
  if (columns.every((column, at) => header.places.get(column) === at)) return { from, header };
  const quote = dialect === "mysql" ? "`" : '"';
  const quoted = columns.map((column) => quote + column.replaceAll(quote, quote + quote) + quote);
  const known = Array.from(header.places, ([column, at]) => `${quoted[at]} AS ${column}`);
  return { from: `(SELECT ${known} FROM ${from} AS written)`, header };
}

/** Text in quotes, or white space, a semicolon or a comment, or any other character. */
const TOKEN = /'[^']*'|"[^"]*"|`[^`]*`|\$(\w*)\$.*?\$\1\$|(?<rest>\s|;|--[^\n]*|\/\*.*?\*\/)|./gs;
const MYSQL_TOKEN =
  /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|(?<rest>\s|;|(?:#|--(?=\s))[^\n]*|\/\*.*?\*\/)|./gs;

/** Removes semicolons and comments at the end, because a semicolon is an error in a subquery. */
function trimQuery(text: string, dialect: Source["dialect"]): string {
  const tokens = [...text.matchAll(dialect === "mysql" ? MYSQL_TOKEN : TOKEN)];
  const last = tokens.findLast(({ groups }) => groups?.rest === undefined);
  return last ? text.slice(0, last.index + last[0].length) : "";
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
