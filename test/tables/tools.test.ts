/**
 * Imports the files in the folder `tools`, which these programs wrote from the users in
 * community.json, without options except those that are named here.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImportOptions } from "../../src/import/import.ts";
import { errorsOf, importFiles } from "./import-files.ts";

const folder = join(import.meta.dir, "tools");
const community: Record<string, unknown>[] = JSON.parse(
  readFileSync(join(folder, "community.json"), "utf8"),
);
const header = Object.keys(community[0] ?? {});

/** The users as an export has them. */
const users = community.map((user) => {
  if (!user.public) return { type: "user", id: user.id, public: false };
  const { id, name, created_at, avatar_url, company_id, company_role } = user;
  return {
    type: "user",
    id,
    public: true,
    name: String(name).replaceAll(/\s+/g, " "),
    avatar_url,
    created_at: `${String(created_at).replace(" ", "T")}Z`,
    company: company_id === null ? null : { id: company_id, role: company_role ?? "Member" },
    roles: [],
    achievements: [],
  };
});

const filesOf = (file: string, start = "") => ({
  "users.csv": Buffer.concat([Buffer.from(start), readFileSync(join(folder, file))]),
  "companies.csv": "id,name\n3,Baltic\n",
});

async function expectUsers(files: ReturnType<typeof filesOf>, options: ImportOptions = {}) {
  const { records, notes } = await importFiles(files, options);
  expect(records.filter(({ type }) => type === "user")).toEqual(users);
  return notes;
}

test.each([
  ["phpMyAdmin 5.2.1", "phpmyadmin.csv"],
  ["Adminer 4.8.1", "adminer-csv.csv"],
  ["Adminer 4.8.1, TSV", "adminer-tsv.csv"],
  ["MariaDB 10.11.19, OUTFILE … ENCLOSED BY", "mysql-outfile-enclosed.csv"],
  ["psql 15.18 --csv", "psql-csv.csv"],
  ["sqlite3 3.40.1 -csv -header", "sqlite3-csv.csv"],
  ["LibreOffice 7.4.7, 44,34,76", "libreoffice-utf8.csv"],
  ["LibreOffice 7.4.7, 9,34,76", "libreoffice-tab.csv"],
  ["Gnumeric 1.12.55", "gnumeric.csv"],
  ["pandas 1.5.3", "pandas.csv"],
  ["pandas 1.5.3 with tabs", "pandas-tab.csv"],
  ["R 4.2.2, write.csv", "r-csv.csv"],
  ["PHP 8.2.36, fputcsv", "php.csv"],
  ["PHP 8.2.36, fputcsv with tabs", "php-tab.csv"],
  ["Miller 6.6.0 --ocsv", "miller-csv.csv"],
  ["csvformat 1.0.7", "csvformat.csv"],
  ["csvformat 1.0.7 -T", "csvformat-tab.csv"],
  ["csvsql 1.0.7", "csvsql.csv"],
])("a file of %s is imported as it is", async (_, file) => {
  const notes = await expectUsers(filesOf(file));
  const isTabbed = readFileSync(join(folder, file), "utf8").split("\n", 1)[0]?.includes("\t");
  const note = "users.csv: quotes surround fields, and backslashes are characters";
  expect(notes).toEqual(isTabbed ? [note] : []);
});

const isUnclear =
  "users.csv, line 3: a quote or a backslash here can have two meanings; add --quotes";

test.each([
  ["MariaDB 10.11.19, mysql --batch", "mysql-batch.csv"],
  ["MariaDB 10.11.19, mysql --batch with BIT(1)", "mysql-batch-bit.csv"],
  ["psql 15.18, COPY … (HEADER)", "psql-copy.csv"],
  ["Miller 6.6.0 --otsv", "miller-tsv.csv"],
])("a file of %s is imported with --quotes none", async (_, file) => {
  expect(await errorsOf(filesOf(file))).toStartWith(isUnclear);
  expect(await expectUsers(filesOf(file), { quotes: "none" })).toEqual([]);
});

test.each([
  ["MariaDB 10.11.19, OUTFILE", "mysql-outfile.csv"],
  ["mysqldump 10.11.19 --tab", "mysqldump-tab.csv"],
])("a file of %s also needs a header", async (_, file) => {
  const names = `the columns can be ${header.join(", ")}`;
  expect(await errorsOf(filesOf(file))).toContain(names.slice(0, 45));
  const complete = filesOf(file, `${header.join("\t")}\n`);
  expect(await errorsOf(complete)).toStartWith(isUnclear);
  expect(await expectUsers(complete, { quotes: "none" })).toEqual([]);
});

const bars = "users.csv, line 1: commas, semicolons or tabs must separate the columns";

test.each([
  ["sqlite3 3.40.1 -tabs", "sqlite3-tabs.csv", isUnclear, "sqlite3 -csv", "sqlite3-csv.csv"],
  ["sqlite3 3.40.1", "sqlite3-list.csv", bars, "sqlite3 -csv -header", "sqlite3-csv.csv"],
  ["psql 15.18 -A -F tab", "psql-unaligned-tab.csv", isUnclear, "psql --csv", "psql-csv.csv"],
  ["psql 15.18 -A", "psql-unaligned.csv", bars, "psql --csv", "psql-csv.csv"],
  ["psql 15.18", "psql-aligned.csv", bars, "psql --csv", "psql-csv.csv"],
  [
    "LibreOffice 7.4.7",
    "libreoffice.csv",
    "users.csv is not UTF-8, but probably Windows-1252; save it as CSV UTF-8",
    "--convert-to 'csv:Text - txt - csv (StarCalc):44,34,76'",
    "libreoffice-utf8.csv",
  ],
  [
    "R 4.2.2, write.table",
    "r-table-tab.csv",
    "users.csv, line 3: a quoted field goes on after its closing quote",
    "R's write.csv",
    "r-csv.csv",
  ],
])("a file of %s is refused, and what the error recommends works", async (...row) => {
  const [, file, problem, cure, other] = row;
  const error = await errorsOf(filesOf(file));
  expect(error).toStartWith(problem);
  expect(error).toContain(cure);
  await expectUsers(filesOf(other));
});

test.each(["sqlite3-tabs.csv", "psql-unaligned-tab.csv"])(
  "no --quotes publishes what a line end in a name has broken: %s",
  async (file) => {
    for (const quotes of ["csv", "none"] as const) {
      expect(await errorsOf(filesOf(file), { quotes })).toContain(
        "a field with a separator or a line end must be in quotes, as sqlite3 -csv and psql --csv write it",
      );
    }
  },
);
