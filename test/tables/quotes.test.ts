/** The meaning of quotes and backslashes in CSV files, which programs disagree about. */
import { expect, test } from "bun:test";
import type { QuoteRule } from "../../src/tables/csv-records.ts";
import { importFiles } from "./import-files.ts";

/** Imports rows of id, name, public, created_at and company_id. Returns the error, or people and notes. */
async function read(rows: string, quotes?: QuoteRule, separator = "\t") {
  const header = ["id", "name", "public", "created_at", "company_id"].join(separator);
  const files = { "users.csv": `${header}\n${rows}`, "companies.csv": "id,name\n3,Baltic\n" };
  try {
    const { records, notes } = await importFiles(files, { quotes });
    const people = records.filter(({ type }) => type === "user");
    return [people.map((user) => (user.public ? user.name : user.id)), ...notes];
  } catch (error) {
    return (error as Error).message;
  }
}

const date = "2021-05-31\t3";
const twoWays = (line: number) =>
  `users.csv, line ${line}: a quote or a backslash here can have two meanings; add --quotes none ` +
  "if mysql, mysqldump, Miller or psql's COPY wrote the file, add --quotes csv if a " +
  "spreadsheet or a CSV library did, or write it again with mysql --batch, sqlite3 -csv or psql --csv";
const asCharacters = "users.csv: quotes are characters, and backslashes are characters";
const asEscapes = "users.csv: quotes are characters, and backslashes are escapes";
const asQuotes = "users.csv: quotes surround fields, and backslashes are characters";

/** Private, and public, and private again. In quotes, the first is public in the middle of a name. */
const swallowing = `1\tEve\t0\t${date}\n5\t"Ann\t0\t${date}\n6\tBob 22"\t1\t${date}\n`;

test("nobody private becomes public in a quoted field that began as a name", async () => {
  expect(await read(swallowing)).toBe(twoWays(3));
  expect(await read(swallowing, "none")).toEqual([[1, 5, 'Bob 22"']]);

  const commas = swallowing.replaceAll("\t", ",");
  expect(await read(commas, undefined, ",")).toBe(twoWays(3));
  expect(await read(commas, "none", ",")).toEqual([[1, 5, 'Bob 22"']]);
});

test("a line end in another name does not hide that a field swallows rows", async () => {
  const middle = `5\t"Ann\t0\t${date}\n6\tTwo\nLines\t1\t${date}\n7\tBob"\t1\t${date}\n`;
  expect(await read(middle)).toBe(twoWays(2));
  expect(await read(middle.replaceAll("\t", ","), undefined, ",")).toBe(twoWays(2));
  const first = `5\t"An\nn\t0\t${date}\n6\tBob"\t1\t${date}\n`;
  expect(await read(first)).toBe(twoWays(2));
});

test("a quote that is never closed may be the first character of a name", async () => {
  const rows = `1,"Ann,1,2021-05-31,3\n2,Bob,0,2021-05-31,3\n`;
  expect(await read(rows, undefined, ",")).toBe(twoWays(2));
  expect(await read(rows, "none", ",")).toEqual([['"Ann', 2]]);
});

test("nobody is lost in a field that a program has closed wrongly", async () => {
  // PHP does not double the quote after a backslash, so the field goes on to the next quote.
  const rows = `1,"\\"",1,2021-05-31,3\n2,",0",0,2021-05-31,\n`;
  const others = `3,"O""Brien",1,2021-05-31,3\n`;
  expect(await read(rows + others, undefined, ",")).toContain(
    "users.csv, line 3: a quoted field goes on after its closing quote",
  );
});

test("a quoted field may contain line ends", async () => {
  const rows = (separator: string) =>
    `1,"Ann\n\nLee",1,2021-05-31,\n2,"A\nB. C",0,,\n`.replaceAll(",", separator);
  for (const separator of [",", ";"]) {
    expect(await read(rows(separator), undefined, separator)).toEqual([["Ann Lee", 2]]);
  }
  expect(await read(rows("\t"))).toEqual([["Ann Lee", 2], asQuotes]);
});

/** Reads people with these names, of whom all are public. */
const readNames = (names: string[], quotes?: QuoteRule, separator?: string) =>
  read(names.map((name, at) => `${at + 1}\t${name}\t1\t${date}\n`).join(""), quotes, separator);

test("a quote inside a field is a character", async () => {
  const names = ['O"Brien', 'Joe "Speedy" Smith', '22"'];
  expect(await readNames(names)).toEqual([names]);
  const commas = names.map((name, at) => `${at + 1},${name},1,2021-05-31,3\n`).join("");
  expect(await read(commas, undefined, ",")).toEqual([names]);
});

test.each<[string, string[], [string[], string]]>([
  ["a quote that is never closed", ['"Ann', "Bob"], [['"Ann', "Bob"], asCharacters]],
  ["a quote that opens nothing else", ['"Ann" Lee', "Bob"], [['"Ann" Lee', "Bob"], asCharacters]],
  ["a field that must be quoted", ['"A\tB"', '"O""Brien"'], [["A B", 'O"Brien'], asQuotes]],
  ["no possible escapes", ["\\o/", "C:\\new"], [["\\o/", "C:\\new"], asQuotes]],
  ["a backslash at the end", ["C:\\", "C:\\new"], [["C:\\", "C:\\new"], asQuotes]],
])("the rows of a tab-separated file show what it means: %s", async (_, names, expected) => {
  expect(await readNames(names)).toEqual(expected);
});

test.each<[string, string[], string[], string[]]>([
  ["quoted names", ["Bob", '"Ann"'], ["Bob", "Ann"], ["Bob", '"Ann"']],
  ["backslashes", ["Bob", "C:\\\\new\\tom"], ["Bob", "C:\\\\new\\tom"], ["Bob", "C:\\new om"]],
])("--quotes decides about %s in a tab-separated file", async (_, names, csv, none) => {
  expect(await readNames(names)).toBe(twoWays(3));
  expect(await readNames(names, "csv")).toEqual([csv]);
  expect(await readNames(names, "none")).toEqual([none]);
});

test("a column with no value shows that backslashes are escapes", async () => {
  const rows = (name: string) => `1\t${name}\t1\t2021-05-31\t\\N\n2\tBob\\\\\t0\t${date}\n`;
  expect(await read(rows("a\\\nb\\\tc\\\\d"))).toEqual([["a b c\\d", 2], asEscapes]);
  // A name shows nothing.
  expect(await read(`1\t\\N\t0\t${date}\n2\ta\\nb\t1\t${date}\n`)).toBe(twoWays(3));
});

test("with commas, MySQL's escapes in quotes are understood", async () => {
  const rows = `1,"O\\"Brien",1,2021-05-31,\\N\n2,"C:\\\\new",1,2021-05-31,\\N\n`;
  expect(await read(rows, undefined, ",")).toEqual([['O"Brien', "C:\\new"]]);
  // Without escapes, a backslash is a character.
  const literal = `1,"C:\\",1,2021-05-31,\n2,"C:\\new ""x""",1,2021-05-31,\n`;
  expect(await read(literal, undefined, ",")).toEqual([["C:\\", 'C:\\new "x"']]);
});

test("with commas, an escaped quote that seems to begin a field is understood", async () => {
  const rows = `1,"\\"",1,2021-05-31,3\n2,"O\\"Brien",1,2021-05-31,3\n`;
  expect(await read(rows, undefined, ",")).toEqual([['"', 'O"Brien']]);
});

test("with commas, escapes without quotes need --quotes none", async () => {
  const rows = `1,Nowak\\, Jan,1,2021-05-31,3\n2,Bob,1,2021-05-31,3\n`;
  expect(await read(rows, undefined, ",")).toBe(twoWays(2));
  expect(await read(rows, "none", ",")).toEqual([["Nowak, Jan", "Bob"]]);
});

test("--quotes none is refused where other columns are in quotes", async () => {
  expect(await read(`1\tAnn\t1\t"2021-05-31"\t\n`, "none")).toBe(
    "users.csv, line 2: created_at begins with a quote, so quotes surround fields; leave out --quotes none",
  );
});
