/** Finds the files of a folder that have tables. They are named after their tables. */
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { naming } from "../files/errors.ts";
import { type TableName, tableNames } from "./columns.ts";

/** The paths of files. */
export type TableFiles = ReadonlyMap<TableName, string>;

/** Returns the paths of a folder's files, which are named after their tables. */
export function findTables(folder: string, ending: "csv" | "sql"): TableFiles {
  const advice = `the files can be ${tableNames.map((name) => `${name}.${ending}`).join(", ")}`;
  const found = new Map<TableName, string>();
  const files = naming(folder, "read", () => readdirSync(folder)).sort();
  for (const file of files) {
    const plain = file.replace(/\s/g, "").toLowerCase();
    if (!/^[^.].*\.(?:csv|sql)$/.test(plain)) continue;

    const table = tableNames.find((name) => `${name}.${ending}` === plain);
    if (!table) {
      const hasUsers = files.some((name) => /^users\./i.test(name));
      const mayBeUsers = ending === "csv" && plain.endsWith("csv") && !hasUsers;
      const rename = mayBeUsers ? "; rename it to users.csv if it has the users" : "";
      throw new Error(`${folder} has the unknown file ${file}${rename}; ${advice}`);
    }
    const other = found.get(table);
    if (other !== undefined) throw new Error(`${folder} has both ${basename(other)} and ${file}`);

    found.set(table, asFile(join(folder, file)));
  }

  for (const file of files) refuseRenamed(folder, file, ending, found);
  if (found.has("users") || found.has("companies")) return found;
  const sheet = ending === "csv" ? files.find((file) => SHEET.test(file)) : undefined;
  const cure = sheet === undefined ? "" : `; save ${sheet} as CSV UTF-8 in users.csv`;
  throw new Error(
    `${folder} has neither users.${ending} nor companies.${ending}${cure}; ${advice}`,
  );
}

/** The files of spreadsheets. */
const SHEET = /^[^.~].*\.(?:xlsx?|ods|numbers)$/i;

/** Throws if a file has the name of a table that was not found, but another format. */
function refuseRenamed(
  folder: string,
  file: string,
  ending: "csv" | "sql",
  found: TableFiles,
): void {
  const [name, ...formats] = file.toLowerCase().split(".");
  const table = tableNames.find((each) => each === name);
  const isText = /^(?:txt|tsv|tab)$/.test(formats.at(-1) ?? "");
  if (!table || formats.length === 0 || found.has(table) || (ending === "sql" && !isText)) return;

  const advice = isText ? "rename it to" : "save it as CSV UTF-8 in";
  throw new Error(`${folder} has ${file}; ${advice} ${table}.${ending}`);
}

/** Returns the path of a regular file. A takedown could wait forever while a FIFO is read. */
export function asFile(path: string): string {
  const stats = naming(path, "read", () => statSync(path));
  if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
  return path;
}
