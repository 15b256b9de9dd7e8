/** The interface of the sources of tables, CSV files and databases, whose rows SQL selects. */
import type { CellFormat } from "./cells.ts";
import type { Header, TableName } from "./columns.ts";
import type { Dialect } from "./dialects.ts";

export interface TableSource extends AsyncDisposable {
  readonly dialect: Dialect;
  readonly cells: CellFormat;
  /** Whether its rows have lines, by which people find them. */
  readonly hasLines: boolean;
  /** How files were read, where they could not show it at once. */
  readonly notes: readonly string[];
  /** Opens the file of a table, which has its rows or selects them. */
  open(table: TableName, path: string): Promise<Selected>;
  /** Runs a query. All queries see the same data. */
  run(sql: string): Promise<Row[]>;
  /** The name of a table's file, for messages. */
  fileOf(table: TableName): string;
}

/** The columns of a table, and what follows FROM in a query that selects its rows. */
export interface Selected {
  header: Header;
  from: string;
}

/** The cells of a row by column. */
export interface Row {
  /** In a CSV file, the line on which the row begins. */
  readonly line?: number;
  readonly [column: string]: unknown;
}

/** Adds the name of a table's file to the error of a query. */
export async function namingFile<T>(file: string, reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`);
  }
}
