/** Recognises databases and folders of CSV files. */
import { statSync } from "node:fs";
import { openCsv } from "./csv.ts";
import { TableReader } from "./read-tables.ts";

export interface TableOptions {
  /** The folder with a SELECT for each table, if the source is a database. */
  queries?: string | undefined;
  /** Called repeatedly with the number of rows of a file that have been read. */
  onRead?: ((file: string, rows: number) => void) | undefined;
}

const URLS = "a postgres://, mysql://, mariadb:// or sqlite: URL";

/** Whether a source is the URL of a database. */
function isDatabase(source: string): boolean {
  return /^(?:postgres(?:ql)?|mysql|mariadb|sqlite):/i.test(source);
}

export function isFolder(source: unknown): source is string {
  if (typeof source !== "string") return false;
  return statSync(source, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * Returns what is wrong with the source of an import, to follow its name. Never repeats the source,
 * because a URL may have a password.
 */
export function findProblem(source: string, queries: string | undefined): string | undefined {
  if (!isDatabase(source)) {
    if (queries !== undefined) return `must be ${URLS}, because queries are given`;
    const isOther = /^[a-z][a-z\d+.-]*:\/\//i.test(source);
    return isOther ? `must be a file, a folder, - or ${URLS}` : undefined;
  }
  if (queries === undefined) return "is a database; name the folder of its SELECTs with --queries";
  if (/^sqlite:./i.test(source)) return undefined;
  const { host, pathname, search, hash } = URL.parse(source) ?? {};
  // A password with / ? or # would end the host.
  if (host && !`${pathname}${search}${hash}`.includes("@")) return undefined;
  return `must be ${URLS}; write special characters in a password as %XX, such as %23 for #`;
}

/** Opens a database or a folder of CSV files. Returns undefined if `source` is something else. */
export async function openTables(
  source: unknown,
  { queries, onRead = () => {} }: TableOptions,
): Promise<TableReader | undefined> {
  const problem = typeof source === "string" ? findProblem(source, queries) : undefined;
  if (problem !== undefined) throw new Error(`the source ${problem}`);
  if (typeof source === "string" && queries !== undefined) {
    if (!process.versions.bun) {
      throw new Error("databases need the executable or Bun; on Node.js, import NDJSON or CSV");
    }
    const { openDatabase } = await import("./database.ts");
    return new TableReader(await openDatabase(source, queries), onRead);
  }
  return isFolder(source) ? new TableReader(await openCsv(source, onRead), onRead) : undefined;
}
