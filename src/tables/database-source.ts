/** Reads tables from a database with an operator's queries. */
import { isUtf8 } from "node:buffer";
import { readFileBytes } from "../files/input.ts";
import { findColumns } from "./columns.ts";
import type { Connection } from "./database-connection.ts";
import { type Dialect, namingFile, type TableSource } from "./table-source.ts";

/** The tables that an operator's queries select from a database. */
export function createDatabaseSource(connection: Connection): TableSource {
  const { dialect } = connection;
  return {
    dialect,
    isSpreadsheet: false,
    async open(table, path) {
      const file = `${table}.sql`;
      const bytes = Buffer.concat(await Array.fromAsync(readFileBytes(path)));
      if (!isUtf8(bytes)) throw new Error(`${file} is not valid UTF-8`);

      const query = trimQuery(dialect, new TextDecoder().decode(bytes));
      const from = `(${query})`;
      const reply = connection.run(`SELECT * FROM ${from} AS q WHERE 1 = 0`);
      const { columns } = await namingFile(file, reply);
      const header = findColumns(file, table, columns);
      const isKnown = columns.every((column, at) => header.columns.get(column) === at);
      if (isKnown) return { header, from, notes: [] };

      // With the names of columns as they are known here.
      const known = Array.from(header.columns, ([column, at]) => {
        return `${quoteName(dialect, columns[at] ?? "")} AS ${column}`;
      });
      return { header, from: `(SELECT ${known} FROM ${from} AS written)`, notes: [] };
    },
    run: async (sql) => (await connection.run(sql)).rows,
    fileOf: (table) => `${table}.sql`,
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Removes what follows the query, because a semicolon is an error in a subquery. */
function trimQuery({ parts }: Dialect, text: string): string {
  let end = 0;
  for (const { 0: part, 1: omitted, index } of text.matchAll(parts)) {
    if (omitted === undefined) end = index + part.length;
  }
  return text.slice(0, end);
}

function quoteName({ quote }: Dialect, name: string): string {
  return quote + name.replaceAll(quote, quote + quote) + quote;
}
