/**
 * Whatever names contain: a community that is written as these programs do is read as the same people
 * with the same flags, or not at all.
 */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { openReader } from "../../src/import/source.ts";
import type { QuoteRule } from "../../src/tables/csv-records.ts";
import { runs } from "../runs.ts";
import { temporaryFolder } from "../support.ts";

type Cell = string | number | null;

interface Dialect {
  separator: string;
  /** The flag that an error recommends for the program. */
  quotes: QuoteRule | undefined;
  write(cell: Cell): string;
  /** Names that the program writes as another program writes other names. */
  blurs?: RegExp;
  /** Names that it writes like further people. */
  excludes?: RegExp;
}

const doubled = (text: string) => `"${text.replaceAll('"', '""')}"`;
/** Quotes texts that match. */
const quoting = (separator: string, needsQuotes: RegExp, none = ""): Dialect => ({
  separator,
  quotes: "csv",
  write: (cell) =>
    cell === null ? none : needsQuotes.test(`${cell}`) ? doubled(`${cell}`) : `${cell}`,
});
/** Puts a backslash before characters, or before letters that stand for them. */
const escaping = (escapes: Record<string, string>, none: string): Dialect => ({
  separator: "\t",
  quotes: "none",
  write: (cell) =>
    cell === null ? none : `${cell}`.replace(/[\\\t\n\r]/g, (char) => escapes[char] ?? char),
});
const letters = { "\\": "\\\\", "\t": "\\t", "\n": "\\n" };

const dialects: Record<string, Dialect> = {
  "mysql --batch": escaping(letters, "NULL"),
  "OUTFILE and mysqldump --tab": escaping({ "\\": "\\\\", "\t": "\\\t", "\n": "\\\n" }, "\\N"),
  "COPY of PostgreSQL": escaping({ ...letters, "\r": "\\r" }, "\\N"),
  "Miller's TSV": escaping(letters, ""),
  // Some of its files are those of other people, written in another way.
  "sqlite3 -tabs": { ...escaping({}, ""), quotes: undefined, excludes: /[\t\n]/ },
  "OUTFILE ENCLOSED BY": {
    separator: ",",
    quotes: "none",
    write: (cell) => (cell === null ? "\\N" : `"${`${cell}`.replace(/["\\\n]/g, "\\$&")}"`),
  },
  phpMyAdmin: quoting(",", /^/, "NULL"),
  "psql --csv": quoting(",", /[",\r\n]/),
  "sqlite3 -csv": quoting(",", /[\s",']/),
  "pandas with tabs": quoting("\t", /["\t\r\n]/),
  "Adminer's TSV": quoting("\t", /["\n,;\t]|^0?$/),
  "write.csv of R": quoting(",", /\D|^$/, "NA"),
  "write.table of R": {
    separator: "\t",
    quotes: "csv",
    // It writes a backslash as it is, and yet one before a quote.
    blurs: /\\[\\\n0]/,
    write: (cell) =>
      typeof cell === "string" ? `"${cell.replaceAll('"', '\\"')}"` : `${cell ?? "NA"}`,
  },
  "fputcsv of PHP": {
    separator: ",",
    quotes: "csv",
    // A quote after a backslash is not doubled, and \0 after a comma looks like a cell without a value,
    // as if MySQL had written them.
    blurs: /\\"|,\\0/,
    write: (cell) =>
      /[",\\\s]/.test(`${cell ?? ""}`)
        ? `"${`${cell}`.replace(/\\?"/g, (all) => (all === '"' ? '""' : all))}"`
        : `${cell ?? ""}`,
  },
};

const parts = [
  '"',
  '""',
  "\\",
  "\\\\",
  "\\n",
  "\\N",
  "\\t",
  "\t",
  "\n",
  "\r",
  ",",
  ";",
  "NULL",
  "NA",
  "a",
  "b c",
  "0",
  "1",
  "2021-05-31",
  "O'Brien",
];
const names = fc
  .array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 })
  .map((all) => all.join(""));
const columns = fc.constantFrom(
  ["id", "public", "name", "created_at", "company_id"],
  ["id", "name", "public", "created_at", "company_id"],
  ["created_at", "public", "company_id", "id", "name"],
  ["name", "id", "public", "company_id", "created_at"],
);
const people = fc.array(
  fc.record({ public: fc.boolean(), name: names, company_id: fc.constantFrom(3, null) }),
  { minLength: 1, maxLength: 6 },
);

const clean = (text: unknown) => String(text).replaceAll(/\s+/g, " ").trim();

/** Reads people as a list of ids, flags, and names of the public ones. Undefined if there is an error. */
async function read(file: string, quotes: QuoteRule | undefined, withNames: boolean) {
  await using reader = await openReader({ kind: "csv", path: file }, { quotes });
  const found: unknown[] = [];
  for await (const items of reader.read()) {
    for (const item of items) {
      if ("problem" in item) return undefined;
      if (!("record" in item)) continue;
      const { id, public: isPublic, name = "", created_at } = item.record;
      if (typeof isPublic !== "boolean") return undefined;
      if (isPublic && (clean(name) === "" || !`${created_at}`.startsWith("2021-")))
        return undefined;
      found.push([id, isPublic, withNames && isPublic ? clean(name) : undefined]);
    }
  }
  return found;
}

test.each(Object.entries(dialects))("people of %s", async (_, dialect) => {
  const { separator, quotes, write, blurs, excludes } = dialect;
  const file = join(temporaryFolder(), "users.csv");
  const property = fc.asyncProperty(people, columns, async (users, header) => {
    if (users.some(({ name }) => excludes?.test(name))) return;

    const cells = users.map((user, at): Record<string, Cell> => {
      return { ...user, id: at + 1, public: Number(user.public), created_at: "2021-05-31" };
    });
    const rows = cells.map((row) =>
      header.map((column) => write(row[column] ?? null)).join(separator),
    );
    writeFileSync(file, [header.join(separator), ...rows, ""].join("\n"));

    const withNames = !users.some(({ name }) => blurs?.test(name));
    const expected = users.map((user, at) => {
      return [at + 1, user.public, withNames && user.public ? clean(user.name) : undefined];
    });
    for (const rule of [undefined, quotes]) {
      const found = await read(file, rule, withNames).catch(() => undefined);
      if (found) expect(found).toEqual(expected);
    }
  });
  await fc.assert(property, { numRuns: runs(100) });
});
