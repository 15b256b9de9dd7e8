/** The sheet of a community of forty, as people have it, and what is typically wrong with one. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import titles from "../../data/columns.json" with { type: "json" };
import { hideUsers } from "../../src/import/hide.ts";
import type { ImportOptions } from "../../src/import/import.ts";
import { importDataset } from "../../src/import/import.ts";
import { fold } from "../../src/search/fold.ts";
import { idFormats } from "../../src/tables/columns.ts";
import { openCsvSource } from "../../src/tables/csv-source.ts";
import { createReader } from "../../src/tables/table-reader.ts";
import { exported } from "../datasets.ts";
import { temporaryFolder } from "../support.ts";
import { type Files, importFiles, makeFolder } from "./import-files.ts";

const HEADER = ["ID", "Username", "Joined", "Company", "Rank", "Profile visible", "Avatar", "Mail"];
const COMPANIES = ["Baltic Express", "Żubr Trans", "", "Rhein-Spedition"];

/** Member 4 of ten is private, and the only one of a company. */
function rowOf(id: number): string[] {
  const isPrivate = id % 10 === 4;
  const company = isPrivate ? `Secret ${id}` : (COMPANIES[id % 4] ?? "");
  const joined = `${String((id % 28) + 1).padStart(2, "0")}/05/2021`;
  const role = company && id % 5 === 0 ? "Dispatcher" : "";
  return [
    `${id}`,
    `Driver ${id}`,
    joined,
    company,
    role,
    isPrivate ? "no" : "yes",
    "",
    `${id}@x.org`,
  ];
}

const sheet = [HEADER, ...Array.from({ length: 40 }, (_, at) => rowOf(at + 1))];

/** Replaces cells of the sheet. Row 0 is the header. */
function edit(row: number, cells: Record<number, string>): string[][] {
  return sheet.map((all, at) => (at === row ? all.map((cell, n) => cells[n] ?? cell) : all));
}

const toText = (rows: string[][], separator = ",") =>
  rows.map((row) => `${row.join(separator)}\n`).join("");
const without = (column: number) => sheet.map((row) => row.filter((_, at) => at !== column));

/** Imports a file as members.csv, or files. Returns what people see, and the records. */
async function importSheet(given: string | Uint8Array | Files, options: ImportOptions = {}) {
  const isFile = typeof given === "string" || given instanceof Uint8Array;
  const folder = makeFolder(isFile ? { "members.csv": given } : given);
  const target = join(temporaryFolder(), "snapshot");
  try {
    const source = isFile ? join(folder, "members.csv") : folder;
    const { notes, unknownColumns, skipped, counts } = await importDataset(source, target, options);
    const text = await exported(target);
    const records = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const left = unknownColumns.map(({ column, meant = "" }) => column + meant);
    return { notes, left, skipped: skipped.format(), counts, text, records, error: "" };
  } catch (error) {
    return { error: (error as Error).message.replaceAll(folder, "my-tables") };
  }
}

const errorOf = async (given: string | Uint8Array | Files, options?: ImportOptions) =>
  (await importSheet(given, options)).error;

test("the sheet is imported as it is, and the report says once what was taken as what", async () => {
  const { counts, notes, left, text } = await importSheet(toText(sheet));
  expect(counts).toMatchObject({ users: 40, public_users: 36, companies: 3 });
  expect(notes).toEqual([
    'members.csv: took "Username" as name, "Joined" as created_at, "Rank" as company_role, "Profile visible" as public, "Avatar" as avatar_url',
    "members.csv: created_at: read dates like 08/05/2021 as 8 May 2021",
    "members.csv: made companies from their names: 3",
  ]);
  expect(left).toEqual(["Mail"]);
  expect(text).toContain('{"type":"user","id":4,"public":false}');
  // Only private people are in it.
  expect(text).not.toContain("Secret");
});

test("a company's id follows from its name, so it stays the same whoever leaves", async () => {
  const companiesOf = async (rows: string[][]) => {
    const { records = [] } = await importSheet(toText(rows));
    const companies = records.filter(({ type }) => type === "company");
    return new Map(companies.map(({ name, id }) => [name, id]));
  };
  // The hashes of these two begin with the same 31 bits.
  const names = ["Spedition 2194", "Spedition 52381", "Rhein-Spedition", "Żubr Trans"];
  const rows = sheet.map((row, at) => {
    return at === 0 ? row : row.with(3, names[at % 4] ?? "").with(5, "yes");
  });
  const all = await companiesOf(rows);
  const rest = await companiesOf(rows.filter(([, , , company]) => company !== names[0]));
  expect([...all.keys()].sort()).toEqual([...names].sort());
  expect(rest.size).toBe(3);
  for (const [name, id] of rest) expect(id).toBe(all.get(name));
});

test("no title is another column's in any language, however it is written", () => {
  const seen = new Map<string, string>();
  for (const [column, languages] of Object.entries(titles)) {
    for (const title of Object.values(languages).flatMap((list) => list.split(", "))) {
      const simple = fold(title).replace(/[\s_-]/g, "");
      expect([title, seen.get(simple) ?? column]).toEqual([title, column]);
      seen.set(simple, column);
    }
  }
});

const spell = {
  upper: (title: string) => title.toUpperCase(),
  underscores: (title: string) => title.replaceAll(" ", "_"),
  joined: (title: string) => title.replaceAll(" ", ""),
  spaces: (title: string) => `  ${title.replaceAll(" ", "  ")}? `,
};

test.each([
  ["en", "Member ID,nick,Member since,VTC,position,show profile,photo"],
  ["de", "Benutzer-ID,Fahrer,Mitglied seit,Spedition,Rang,Profil sichtbar,Profilbild"],
  ["pl", "ID kierowcy,pseudonim,data dołączenia,nazwa firmy,ranga,profil publiczny,zdjęcie"],
  [
    "fr",
    "numéro de membre,nom d'utilisateur,inscrit le,société,poste,profil public,photo de profil",
  ],
  ["es", "ID de usuario,apodo,miembro desde,empresa,cargo,perfil visible,foto de perfil"],
  ["cs", "ID řidiče,přezdívka,člen od,společnost,hodnost,veřejný profil,fotka"],
])("titles in %s, in any case, with spaces or underscores", async (_, header) => {
  for (const write of Object.values(spell)) {
    const { error, counts } = await importSheet(
      toText([[...header.split(",").map(write), "Mail"], ...sheet.slice(1)]),
    );
    expect([error, counts]).toEqual(["", expect.objectContaining({ public_users: 36 })]);
  }
});

test.each([
  "hidden",
  "private",
  "Profile hidden",
  "not public",
  "Privat",
  "Visibility",
  "Published",
])("a column such as %s is never taken for public", async (title) => {
  const error = await errorOf(toText(edit(0, { 5: title })));
  expect(error).toStartWith("members.csv: no column is public; found ");
});

const row = (line: number, field: string) => `members.csv, line ${line}: ${field}: `;
const NO_ID =
  "add a column id with a number that stays each person's, or take another column as the id with --key COLUMN --id-map FILE";
const companies = "id,name\n3,Baltic Express\n4,Żubr Trans\n5,Rhein-Spedition\n6,Twin\n7,TWIN\n";

describe("what is typically wrong is named", () => {
  test.each<[string, string | Uint8Array | Files, string]>([
    [
      "a title that nobody knows",
      toText(edit(0, { 1: "Usrname", 5: "Visable" })),
      'members.csv: no column is public or name; found "ID", "Joined" (created_at), "Company", "Rank" (company_role), "Avatar" (avatar_url), "Usrname" (name?), "Visable" (public?), "Mail"',
    ],
    [
      "no title that anybody knows",
      "Colour;Mileage\nred;x\n",
      'members.csv: no column is id or public or name or created_at; found "Colour", "Mileage"',
    ],
    [
      "other words, which are no guesses",
      toText(edit(0, { 1: "First name", 7: "Steam ID" })),
      '"First name", "Steam ID"',
    ],
    [
      "words that differ by a letter or two from public ones",
      toText(edit(0, { 4: "Bank", 5: "Invisible", 6: "Phone" })),
      '"Bank", "Invisible", "Phone", "Mail"',
    ],
    ["a heading above the titles", `Our members,,,,,,,\n${toText(sheet)}`, 'found "Our members"'],
    [
      "no titles at all",
      toText(sheet.slice(1)),
      "members.csv does not begin with the names of columns; the columns can be id, public, name, created_at, ",
    ],
    [
      "a first row without numbers, which is not quoted",
      "Anna,Baltic,oui\n",
      "members.csv does not begin with the names of columns; ",
    ],
    [
      "two names",
      toText(edit(0, { 7: "Driver" })),
      'members.csv: "Username" and "Driver" both fit name; remove one, or rename it',
    ],
    [
      "a company twice",
      toText(edit(0, { 7: "company_id" })),
      'members.csv: "Company" and "company_id" both fit company_id; remove one, or rename it',
    ],
    ["no id", toText(without(0)), NO_ID],
    ["a total", `${toText(sheet)},Total,,3,,,,40\n`, `${row(42, "id")}is missing`],
    [
      "a total below the ids",
      `${toText(sheet)}Total,40,,,,,,\n`,
      'id: must be an integer from 1 to 9007199254740991, got "Total"',
    ],
    [
      "a number below the ids",
      `${toText(sheet)}820,,,,,,,\n`,
      `${row(42, "public")}is missing (user 820)`,
    ],
    [
      "an empty day of joining",
      toText(edit(3, { 2: "" })),
      `${row(4, "created_at")}is missing (user 3)`,
    ],
    [
      "dates that show no order",
      toText(sheet.filter((_, at) => at < 12)),
      "members.csv: created_at: nothing shows which number is the month, as in line 2; say which comes first with --dates dmy or --dates mdy",
    ],
    [
      "dates of two orders",
      toText(edit(3, { 2: "05/31/2021" })),
      "members.csv: created_at: line 13 has the day first, and line 4 the month; correct one of them",
    ],
    ["a month", toText(edit(3, { 2: "June 2021" })), 'must be a date or a time, got "June 2021"; '],
    ["a year of two digits", toText(edit(3, { 2: "31/05/21" })), "; write it as 2021-05-31, 2021-"],
    [
      "a number instead of a date",
      toText(edit(3, { 2: "44317" })),
      'got "44317"; it looks like a spreadsheet\'s own date: format the column as 2021-05-31',
    ],
    [
      "n/a as an avatar",
      toText(edit(3, { 6: "n/a" })),
      'got "n/a"; it stands for no value: leave it empty',
    ],
    [
      "a file as an avatar",
      toText(edit(3, { 6: "anna.png" })),
      "; --avatar-base URL of import says",
    ],
    [
      "n/a as a company",
      toText(edit(3, { 3: "n/a" })),
      `${row(4, "company")}must be a company's name, got "n/a"; it stands for no value: leave it empty`,
    ],
    [
      "a dash as a company",
      toText(edit(3, { 3: "–" })),
      `${row(4, "company")}must be a company's name, got "–" (user 3)`,
    ],
    [
      "none as a company",
      toText(edit(3, { 3: "none" })),
      'got "none"; it stands for no value: leave it',
    ],
    [
      "an empty cell that a formula has read as a company",
      toText(edit(3, { 3: "0" })),
      'company: must be a company\'s name, got "0" (user 3)',
    ],
    [
      "companies' names as their ids",
      toText(edit(0, { 3: "company_id" })),
      'got "Żubr Trans"; such ids need --id-map FILE',
    ],
    [
      "a formula's error as a company",
      toText(edit(3, { 3: "#REF!" })),
      `got "#REF!"; it is an error of a formula in a spreadsheet: correct the formula`,
    ],
    [
      "a company that is not in companies.csv",
      { "users.csv": toText(edit(3, { 3: "Baltik Expres" })), "companies.csv": companies },
      'users.csv, line 4: company: must be the name of a company in companies.csv, got "Baltik Expres" (user 3)',
    ],
    [
      "a company that is there twice",
      { "users.csv": toText(edit(3, { 3: "Twin" })), "companies.csv": companies },
      'got "Twin"; several companies have this name (user 3)',
    ],
    [
      "maybe",
      toText(edit(3, { 5: "friends" })),
      'public: must be true or false, got "friends" (user 3)',
    ],
    ["a tick", toText(edit(3, { 5: "✓" })), 'got "✓" (user 3)'],
    ["nothing about visibility", toText(edit(3, { 5: "" })), "public: is missing (user 3)"],
    ["an id twice", toText(edit(3, { 0: "2" })), "id: duplicate user id 2"],
    ["a thousand", toText(edit(3, { 0: '"1,234"' })), 'got "1,234"'],
    ["a rounded id", toText(edit(3, { 0: "7.65E+16" })), "a number that a spreadsheet has rounded"],
    [
      "a formula's error as a name",
      toText(edit(3, { 1: "#NAME?" })),
      "correct the formula (user 3)",
    ],
    [
      "a comma in a name",
      toText(edit(3, { 1: "Nowak, Jan" })),
      "line 4: has 9 fields, but the header",
    ],
    [
      "a spreadsheet called .csv",
      Buffer.from("PK\u0003\u0004\u0014\0\u0006\0\b\0\0\0!\0\xb5", "latin1"),
      "members.csv is a spreadsheet; save it as CSV UTF-8, and give that file, or a folder of several",
    ],
    [
      "the characters of Windows",
      Buffer.from(toText(edit(3, { 1: "Zoë" })), "latin1"),
      "members.csv is not UTF-8, but probably Windows-1252; save it as CSV UTF-8",
    ],
    [
      "members.csv in a folder",
      { "members.csv": toText(sheet) },
      "my-tables has the unknown file members.csv; the ",
    ],
    ["users.xlsx in a folder", { "users.xlsx": "" }, "; save it as CSV UTF-8 in users.csv"],
    [
      "members.ods in a folder",
      { "members.ods": "" },
      "my-tables has neither users.csv nor companies.csv; the files can be ",
    ],
  ])("%s", async (_, given, expected) => {
    expect(await errorOf(given)).toContain(expected);
  });
});

describe("what is untidy, but clear, is no error", () => {
  test.each<[string, string]>([
    ["semicolons", `sep=;\n${toText(sheet, ";")}`],
    ["tabs", toText(sheet, "\t")],
    [
      "blank lines and columns",
      `,,,,,,,,\n\n${toText(sheet.map((cells) => [...cells, ""]))},,,,,,,,\n`,
    ],
    ["other spellings of a company", toText(edit(4 + 4, { 3: " baltic  EXPRESS" }))],
    [
      "words in another language",
      toText(sheet).replaceAll(",yes,", ",JA,").replaceAll(",no,", ",nein,"),
    ],
    ["the words for a name in other languages", toText(edit(0, { 1: "Nombre" }))],
    ["accents that are missing", toText(edit(0, { 2: "Clen od", 5: "verejny" }))],
  ])("%s", async (_, text) => {
    const { error, counts } = await importSheet(text);
    expect([error, counts]).toEqual([
      "",
      expect.objectContaining({ users: 40, public_users: 36, companies: 3 }),
    ]);
  });

  test("spellings of a company are one, under the most frequent", async () => {
    const { notes, text } = await importSheet(toText(edit(8, { 3: "baltic EXPRESS" })));
    expect(notes).toContain("members.csv: made companies from their names: 3");
    expect(text).not.toContain("baltic EXPRESS");
  });
});

test("with --skip-invalid, a wrong company is left out, and a user without a day is private", async () => {
  const rows = edit(3, { 3: "n/a" }).map((cells, at) => (at === 5 ? rowOf(5).with(2, "") : cells));
  const { records = [], skipped } = await importSheet(toText(rows), { skipInvalid: true });
  expect(records).toContainEqual(expect.objectContaining({ id: 3, public: true, company: null }));
  expect(records).toContainEqual({ type: "user", id: 5, public: false });
  expect(skipped).toContain("; the rest of the user is kept (user 3)");
  expect(skipped).toContain("created_at: is missing; the user becomes private (user 5)");
});

test("a company that was made from its name stands in no file", async () => {
  const folder = makeFolder({ "users.csv": toText(sheet) });
  const files = new Map([["users", join(folder, "users.csv")] as const]);
  await using reader = createReader(openCsvSource(idFormats.integers, {}), files, {});
  const items = (await Array.fromAsync(reader.read())).flatMap((batch) => [...batch]);
  const companies = items.filter((item) => "record" in item && item.record.type === "company");
  expect(companies.map((item) => item.line)).toEqual([undefined, undefined, undefined]);
  const error = { type: "company", id: 1, field: "name", reason: "is wrong" } as const;
  expect(reader.locate(error)).toEqual({ error, isNamed: false });
});

test("names of companies are looked up in companies.csv, and counted there", async () => {
  const { records = [] } = await importSheet({
    "users.csv": toText(edit(8, { 3: "baltic express" })).replaceAll(
      /Secret \d+/g,
      "Baltic Express",
    ),
    "companies.csv": companies,
  });
  const ofType = (type: string) => records.filter((record) => record.type === type);
  expect(ofType("company").map(({ id, member_count }) => [id, member_count])).toEqual([
    [3, 12],
    [4, 10],
    [5, 10],
    [6, 0],
    [7, 0],
  ]);
  expect(ofType("user")[7].company).toEqual({ id: 3, role: "Member" });
});

test("users of a name that several companies have are counted once", async () => {
  const { records } = await importFiles({
    "users.csv": "id,public,name,created_at,company\n1,0,,,Łódź Trans\n2,0,,,Lodz Trans\n",
    "companies.csv": "id,name\n3,Łódź Trans\n4,Lodz Trans\n",
  });
  const [first, second] = records;
  expect([first.member_count, second.member_count]).toEqual([2, 0]);
});

test("a role without a company is left out, and said so", async () => {
  expect((await importSheet(toText(without(3)))).left).toEqual(["Rank", "Mail"]);
});

test("--key takes a column as the id, by which a takedown finds the person", async () => {
  const idMap = join(temporaryFolder(), "ids");
  for (const key of ["Username", "user_name", "name"]) {
    const { notes, counts } = await importSheet(toText(without(0)), { idMap, key });
    expect(counts).toMatchObject({ users: 40, public_users: 36, companies: 3 });
    expect(notes?.[0]).toBe(
      `members.csv: took "Username" as id and name, "Joined" as created_at, "Rank" as company_role, "Profile visible" as public, "Avatar" as avatar_url`,
    );
  }

  const target = join(temporaryFolder(), "snapshot");
  const folder = makeFolder({ "users.csv": toText(sheet) });
  await importDataset(folder, target, { idMap, key: "Mail" });
  await hideUsers(["7@x.org"], target, { idMap });
  expect(await exported(target)).not.toContain("Driver 7");

  const none = await errorOf(toText(edit(3, { 7: "n/a" })), { idMap, key: "Mail" });
  expect(none).toContain(
    'id: must be an integer from 1 to 9007199254740991, got "n/a"; it stands for no value',
  );

  const error = await errorOf(toText(without(0)), { idMap, key: "Nick" });
  expect(error).toStartWith(
    'members.csv has no column "Nick" for --key; it has "Username", "Joined"',
  );
});

test("companies that nobody knows are one kind of error", async () => {
  const known = Array.from(
    { length: 150 },
    (_, at) => `${at + 1},Haulage ${"abcdefghij"[at % 10]}${at}x`,
  );
  const users = known.map((line, at) => `${at + 1},1,Ann,2021-05-31,${line.split(",")[1]}y`);
  const files = {
    "companies.csv": `id,name\n${known.join("\n")}\n`,
    "users.csv": `id,public,name,created_at,company\n${users.join("\n")}\n0,1,Ann,2021-05-31,\n`,
  };
  const lines = (await errorOf(files, { maxErrors: 1000 })).split("\n");
  const unknown = lines.filter((line) => line.includes("must be the name of a company"));
  expect(unknown).toHaveLength(150);
  // An error of another kind is not lost.
  expect(lines.join("\n")).toContain("id: must be an integer");
});
