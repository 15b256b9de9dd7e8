/** Imports folders of CSV files: separators, defaults, errors, and rows in any order. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { formatTime, parseTime } from "../../src/domain/time.ts";
import { hideUsers } from "../../src/import/hide.ts";
import type { ImportOptions } from "../../src/import/import.ts";
import { importDataset } from "../../src/import/import.ts";
import { idFormats, toCells, toPublic } from "../../src/tables/columns.ts";
import { dialects } from "../../src/tables/dialects.ts";
import { toCsv } from "../../src/tables/write-csv.ts";
import { exported } from "../datasets.ts";
import { run, temporaryFolder } from "../support.ts";
import { errorsOf, type Files, importFiles, makeFolder } from "./import-files.ts";

const sheet = { ids: idFormats.integers, dialect: dialects.sqlite, isSpreadsheet: true };
const toTime = (cell: unknown) => toCells({ created_at: cell }, sheet).created_at;
const users = "id,public,name,created_at\n";
const ann = "1,yes,Ann,2024-03-09 17:05:00\n";
const private_ = (id: number) => ({ type: "user", id, public: false });
const user = (id: number, name: string, more = {}) => ({
  type: "user",
  id,
  public: true,
  name,
  avatar_url: null,
  created_at: "2024-03-09T17:05:00Z",
  company: null,
  roles: [],
  achievements: [],
  ...more,
});

/** A community with all tables, in no order, and with duplicates. */
const community: Files = {
  "users.csv":
    "\ufeffname;id;public;created_at;company_role;company_id;avatar_url\r\n" +
    '"Nowak; ""Ł""\r\nJan";7;T;1710003900;Owner;3;https://a.example/7.png\r\n' +
    "\r\n;;;;;;\r\nHidden;9;No;never;;3;\r\nEve;42.0;TRUE;2024-03-09T18:05:00+01:00;;3;a/x.png\r\n",
  "companies.csv": "id\tname\tmember_count\n3\tBaltic\t\n4\tŻubr\t7\n",
  "roles.csv": "id,name,hierarchy\n1,Driver,-10\n2,Patron,20.0\n",
  "achievements.csv": "id,name,description,icon,kind,tier,points\n7,Owl,Up.,owl.svg,time,1,25",
  "user_roles.csv": "role_id,user_id\n2,7\n1,42\n2,7\n1,7\n1,9\n99,9\n",
  "user_achievements.csv":
    "user_id,achievement_id,tier,unlocked_at\n42,7,1,2024-01-01 00:00:00\n" +
    "42,7,3,2024-01-03 00:00:00\n42,7,3,2024-01-02T02:00:00+02:00\n42,7,2,2020-01-01 00:00:00\n",
  "notes.txt": "Other files are ignored.",
};

test("a folder of CSV files becomes the same records as NDJSON", async () => {
  const { records } = await importFiles(community, { avatarBase: "https://cdn.example/img/" });
  const achievement = { id: 7, name: "Owl", description: "Up.", icon: "owl.svg", kind: "time" };
  expect(records).toEqual([
    { type: "role", id: 1, name: "Driver", hierarchy: -10 },
    { type: "role", id: 2, name: "Patron", hierarchy: 20 },
    { type: "achievement", ...achievement, tier: 1, points: 25 },
    { type: "company", id: 3, name: "Baltic", member_count: 3 },
    { type: "company", id: 4, name: "Żubr", member_count: 7 },
    user(7, 'Nowak; "Ł" Jan', {
      avatar_url: "https://a.example/7.png",
      company: { id: 3, role: "Owner" },
      roles: [1, 2],
    }),
    private_(9),
    user(42, "Eve", {
      avatar_url: "https://cdn.example/img/a/x.png",
      company: { id: 3, role: "Member" },
      roles: [1],
      achievements: [{ id: 7, tier: 3, unlocked_at: "2024-01-02T00:00:00Z" }],
    }),
  ]);
});

test("--avatar-base resolves avatars in NDJSON, too", async () => {
  const target = join(temporaryFolder(), "snapshot");
  const avatars = {
    "a b.png": "img/a%20b.png",
    "/c.png": "c.png",
    "?h=1": "img/?h=1",
    "100%25%2047.jpg": "img/100%25%2047.jpg",
    "x%231.jpg": "img/x%231.jpg",
    "%C5%81.png": "img/%C5%81.png",
    "avatar.php?u=5&name=a.jpg": "img/avatar.php?u=5&name=a.jpg",
    "l/0/1.jpg?1710003900": "img/l/0/1.jpg?1710003900",
    "1.png?v=1.2": "img/1.png?v=1.2",
  };
  const users = Object.keys(avatars).map((avatar_url, at) => user(at + 1, "Ann", { avatar_url }));
  await importDataset(users, target, { avatarBase: "https://cdn.example/img/" });
  const text = await exported(target);
  for (const path of Object.values(avatars))
    expect(text).toContain(`"https://cdn.example/${path}"`);
});

test("what is written as CSV is read as the same", async () => {
  const names = ["NULL", 'A "B", C', "\\N", " D;\tE "];
  const roles = names.map((name, at) => ({
    type: "role" as const,
    id: at + 1,
    name,
    hierarchy: 1,
  }));
  const written = [...toCsv("roles", roles)].join("\n");
  const { records } = await importFiles({ "users.csv": users + ann, "roles.csv": written });
  expect(records.slice(0, 4)).toEqual(
    roles.map((role, at) => (at === 3 ? { ...role, name: "D; E" } : role)),
  );
});

test.each(["", "a\rb"])(
  "an achievement described as %j cannot be written as CSV",
  (description) => {
    const given = { type: "achievement" as const, id: 7, name: "Night Owl", description };
    const other = { icon: "a.svg", kind: "distance", tier: 1, points: 25 };
    expect(() => [...toCsv("achievements", [{ ...given, ...other }])]).toThrow(
      `achievement 7: description cannot be ${JSON.stringify(description)} in a CSV file`,
    );
  },
);

test("only users or companies are needed", async () => {
  expect((await importFiles({ "users.csv": users + ann })).records).toEqual([user(1, "Ann")]);
  const companies = { "companies.csv": "id,name\n1,Acme\n" };
  expect((await importFiles(companies)).records[0].member_count).toBe(0);
});

test("a user may have more rows than a page", async () => {
  const rows = `${"5,1,Ann,2021-05-31\n".repeat(5003)}9,1,Eve,2021-05-31\n`;
  expect(await errorsOf({ "users.csv": users + rows }, { maxErrors: 1 })).toBe(
    "users.csv, line 3: id: duplicate user id 5\n  … and 5,001 more like this (5,002 in all)",
  );
});

test("signals are handled between pages", async () => {
  const rows = Array.from({ length: 1001 }, (_, at) => `${at + 1},0,,\n`).join("");
  let hasTurned = true;
  const onRead = () => {
    expect(hasTurned).toBe(true);
    hasTurned = false;
    setImmediate(() => (hasTurned = true));
  };
  await importFiles({ "users.csv": users + rows }, { onRead });
});

const messy: Files = {
  ...community,
  "users.csv": `id,public,name,created_at,avatar_url,company_id
1,maybe,Max,2024-03-09 17:05:00,,
2,,Max,2024-03-09 17:05:00,,
3,1,,2024-02-30 17:05:00,,
4,1,"Two
lines",yesterday,,
0,1,Zero,0,,
,1,None,0,,
76561197960265729,1,Steam,0,,
five,1,Five,0,,
5.5,1,Half,0,,
6,1,Six,2024-03-09 17:05:00,x.png,777
7,1,Seven,2024-03-09 17:05:00,,
7,0,Seven,,,
8,0,,0000-00-00,,x
`,
  "user_roles.csv": "user_id,role_id\n6,1\n6,99\n99,1\n-1,1\n6,x\n8,99\n6,\n",
  "user_achievements.csv":
    "user_id,achievement_id,tier,unlocked_at\n6,7,2,2024-03-09 17:05:00\n6,7,many,2024-03-09 17:05:00\n1000,7,1,0\n6,7,9,2024-02-30 00:00:00\n",
};
const MAX = Number.MAX_SAFE_INTEGER;
const ids = `must be an integer from 1 to ${MAX}`;
const map = "; such ids need --id-map FILE";
const time = "must be a date or a time";
const forms = "; write it as 2021-05-31, 2021-05-31 17:05, 31.5.2021 or Unix seconds";
const spreadsheet = "; it looks like a spreadsheet's own date: format the column as 2021-05-31";
const milliseconds = "; it looks like milliseconds: divide it by 1,000";
const formula = "; it is an error of a formula in a spreadsheet: correct the formula";
const none =
  "; it stands for no value: leave it empty (in JSON or SQL, null), or leave out the row";
const noDate =
  "; it stands for no date: select NULL, and leave out such users or give them the platform's first day";

test("errors name the file, the line and the column, and are grouped", async () => {
  expect((await errorsOf(messy)).split("\n")).toEqual([
    "users.csv, line 8: id: is missing",
    `user_roles.csv, line 5: user_id: ${ids}, got -1`,
    "user_roles.csv, line 3: role_id: there is no role 99",
    `user_roles.csv, line 6: role_id: ${ids}, got "x"${map}`,
    "user_roles.csv, line 8: role_id: is missing",
    "user_roles.csv, line 4: user_id: there is no user 99",
    "user_achievements.csv, line 4: user_id: there is no user 1000",
    `user_achievements.csv, line 3: tier: must be an integer from 0 to ${MAX}, got "many"`,
    `user_achievements.csv, line 5: unlocked_at: ${time}, got "2024-02-30 00:00:00"${forms}`,
    `users.csv, line 7: id: ${ids}, got 0`,
    `users.csv, line 11: id: ${ids}, got "5.5"`,
    'users.csv, line 2: public: must be true or false, got "maybe" (user 1)',
    "users.csv, line 3: public: is missing (user 2)",
    "users.csv, line 4: name: is missing (user 3)",
    `users.csv, line 4: created_at: ${time}, got "2024-02-30 17:05:00"${forms} (user 3)`,
    `users.csv, line 5: created_at: ${time}, got "yesterday"${forms} (user 4)`,
    'users.csv, line 12: avatar_url: must be null, or an http(s) URL or a path of at most 2048 code points, got "x.png"; --avatar-base URL of import says what a relative one belongs to (user 6)',
    "users.csv, line 14: id: duplicate user id 7",
    `users.csv, line 9: id: ${ids}, got 76561197960265729${map}, or subtract 76561197960265728 from Steam ids in SQL`,
    `users.csv, line 10: id: ${ids}, got "five"${map}`,
  ]);
});

test("with --skip-invalid, every row that is left out is reported, and nobody becomes public", async () => {
  const { records, skipped } = await importFiles(messy, { skipInvalid: true });
  const people = records.filter(({ type }) => type === "user");
  const six = {
    roles: [1],
    achievements: [{ id: 7, tier: 2, unlocked_at: "2024-03-09T17:05:00Z" }],
  };
  expect(people).toEqual([
    ...[1, 2, 3, 4].map(private_),
    user(6, "Six", six),
    ...[7, 8].map(private_),
  ]);
  expect(skipped).toContain("users.csv, line 12: company_id: there is no company 777 (user 6)");
  expect(skipped).toContain("user_roles.csv, line 6: role_id: must be an integer from 1 to");
});

test("users whose id is invalid count as invalid users, and rows of other tables do not", async () => {
  const rows = (invalid: number) =>
    Array.from({ length: 24 }, (_, at) => `${at < invalid ? "x" : at + 1},1,Ann,2021-05-31\n`);
  const files = (invalid: number) => ({
    "users.csv": users + rows(invalid).join(""),
    "user_roles.csv": `user_id,role_id\n${"x,1\n".repeat(100)}`,
  });
  const importing = importFiles(files(13), { skipInvalid: true });
  await expect(importing).rejects.toThrow("13 of 24 users are invalid, so they would become");
  expect((await importFiles(files(12), { skipInvalid: true })).records).toHaveLength(12);
});

test.each(["\r\n", "\r\r\n"])("lines may end in %j, also in quotes", async (end) => {
  const blank = "\n".repeat(40_000);
  const rows = `${users}1,1,"A\nB",1e8\n${blank}2,1,C,1e8\n3,1,"D\n\nE",1e8\n4,1,,1e8\n`.replaceAll(
    "1e8",
    "2021-05-31",
  );
  const expected = "users.csv, line 40008: name: is missing (user 4)";
  // Another length puts other characters at the end of a chunk.
  for (const text of [rows, ` ${rows}`]) {
    expect(await errorsOf({ "users.csv": text.replaceAll("\n", end) })).toBe(expected);
  }
});

test("an empty field of CSV is missing, quoted or not, although NDJSON allows an empty text", async () => {
  const row = '7,Night Owl,"",,time,1,25\n';
  const files = { "achievements.csv": `id,name,description,icon,kind,tier,points\n${row}` };
  expect(await errorsOf({ ...files, "users.csv": users + ann })).toBe(
    "achievements.csv, line 2: description: is missing (achievement 7)\n" +
      "achievements.csv, line 2: icon: is missing (achievement 7)",
  );
  const texts = { name: "Night Owl", description: "", icon: "", kind: "" };
  const achievement = { type: "achievement" as const, id: 7, ...texts, tier: 1, points: 25 };
  const company = { type: "company" as const, id: 3, name: "Acme", member_count: 1 };
  await importDataset([achievement, company], join(temporaryFolder(), "snapshot"));
});

test("a word for no value is missing, but in quotes it is a name", async () => {
  const words = ["NULL", "\\N", "NA", "<NA>", "NaN", "None"];
  const rows = words.flatMap((word, at) => [
    `${2 * at + 1},1,"${word}",2021-05-31,${word}\n`,
    `${2 * at + 2},0,${word},${word},"${word}"\n`,
  ]);
  const header = "id,public,name,created_at,company_id\n";
  const { records } = await importFiles({ "users.csv": header + rows.join("") });
  const names = records.map(({ name }) => name);
  expect(names).toEqual(words.flatMap((word) => [word, undefined]));

  expect(await errorsOf({ "users.csv": `${users}1,1,NULL,2021-05-31\n` })).toBe(
    "users.csv, line 2: name: is missing (user 1)",
  );
});

describe("a quoted word for no value is never completed to an avatar, nor a role or an id", () => {
  const header = "id,public,name,created_at,avatar_url,company_id,company_role\n";
  const files = (avatar: string, company: string, role: string) => ({
    "users.csv": `${header}1,1,Ann,2021-05-31,${avatar},${company},${role}\n`,
    "companies.csv": "id,name\n3,Acme\n",
  });

  test.each([
    ...["NULL", "\\N", "NA", "<NA>", "NaN", "None", "null", "nan", "undefined", "N/A"].map(
      (word) => [word, none] as const,
    ),
    ...["#N/A", "#NV", "#BEZUG!", "#ARG!", "#¿NOMBRE?", "Fehler:502", "Err:502"].map(
      (word) => [word, formula] as const,
    ),
  ])("%s", async (word, advice) => {
    const quoted = `"${word}"`;
    for (const avatarBase of [undefined, "https://forum.example/"]) {
      expect((await errorsOf(files(quoted, quoted, quoted), { avatarBase })).split("\n")).toEqual([
        `users.csv, line 2: avatar_url: must be null, or an http(s) URL or a path of at most 2048 code points, got ${quoted}${advice} (user 1)`,
        `users.csv, line 2: company_id: ${ids}, got ${quoted}${advice} (user 1)`,
        `users.csv, line 2: company_role: must be a non-blank string of 1 to 200 code points, got ${quoted}${advice} (user 1)`,
      ]);
    }

    const idMap = join(temporaryFolder(), "ids");
    const message = await errorsOf(files("", quoted, ""), { idMap });
    expect(message).toContain(advice);
    expect(message).not.toContain("--");
  });
});

describe("with an id map, an integer is the same key with decimals of zeros, as in a column with gaps", () => {
  const files = {
    "users.csv": "id,public,name,created_at,company_id\n42.0,0,,,\n7,1,Ann,2021-05-31,3.0\n",
    "companies.csv": "id,name\n3,Acme\n",
    "roles.csv": "id,name,hierarchy\n5.0,Driver,1\n",
    "user_roles.csv": 'user_id,role_id\n"7,0",5\n',
  };

  test("in all columns", async () => {
    const idMap = join(temporaryFolder(), "ids");
    const { records } = await importFiles(files, { idMap });
    expect(records.filter(({ type }) => type === "user")).toMatchObject([
      { id: 1, public: false },
      { id: 2, name: "Ann", company: { id: 1 }, roles: [1] },
    ]);
    const twice = { ...files, "users.csv": `${files["users.csv"]}42,1,Bob,2021-05-31,\n` };
    expect(await errorsOf(twice, { idMap })).toBe("users.csv, line 4: id: duplicate user id 42");
  });

  test("in lines, and for hide", async () => {
    const folder = temporaryFolder();
    const target = join(folder, "snapshot");
    const idMap = join(folder, "ids");
    await importDataset([{ ...user(0, "Ann"), id: "42.0" }], target, { idMap });
    await hideUsers(["42"], target, { idMap });
    expect(await exported(target)).toContain('{"type":"user","id":1,"public":false}');
  });
});

describe("ids that a program has rounded", () => {
  const rows = (ids: unknown[]) => ids.map((id) => `${id},1,Ann,2021-05-31\n`).join("");
  const rounded =
    "looks like a number that a program has rounded, and so do all other long ids of this type; have that program read ids as text, or import them as they are with --force";

  // Each of 76561198012345678, …709 and …740.
  test.each([
    ["Gnumeric", [76561198012345680n, 76561198012345710n, 76561198012345740n]],
    ["R", [76561198012345680n, 76561198012345712n, 76561198012345744n]],
    ["LibreOffice, with the format 0", [76561198012345700n]],
  ])("%s", async (_, written) => {
    const files = { "users.csv": users + rows([5, ...written]) };
    const idMap = join(temporaryFolder(), "ids");
    const expected = `users.csv, line 3: id: ${rounded} (user ${written[0]})`;
    expect(await errorsOf(files, { idMap })).toBe(expected);
    expect(await errorsOf(files, { idMap, skipInvalid: true })).toBe(expected);

    const { records } = await importFiles(files, { idMap, force: true });
    expect(records.slice(1)).toHaveLength(written.length + 1);
    const lines = written.map((id) => ({ ...user(0, "Ann"), id: String(id) }));
    const importing = importDataset(lines, join(temporaryFolder(), "snapshot"), { idMap });
    await expect(importing).rejects.toThrow(`line 1: id: ${rounded}`);
  });

  test.each([
    ["one that no double has", [76561198012345680n, 76561198012345679n]],
    // So are those of low-traffic generators, which count from zero in each millisecond.
    ["multiples of 4096", [53908232506183680n, 80351110224678912n]],
    ["short ones", [5, 9007199254740990n]],
    ["text", ["x76561198012345680", "76561198012345680x"]],
  ])("are not ids such as %s", async (_, ids) => {
    const files = { "users.csv": users + rows(ids) };
    const { records } = await importFiles(files, { idMap: join(temporaryFolder(), "ids") });
    expect(records.slice(1)).toHaveLength(ids.length);
  });
});

test("a carriage return within a line is white space", async () => {
  const { records } = await importFiles({ "users.csv": `${users}"1\r","1",A\rB,"1710003900\r"\r` });
  expect(records).toEqual([user(1, "A B")]);
  const expected = `users.csv, line 2: id: ${ids}, got "1 2"`;
  expect(await errorsOf({ "users.csv": `${users}"1\r2",1,Ann,0\n` })).toBe(expected);
});

test("lines may end in a carriage return alone, as in old spreadsheets", async () => {
  const text = `${users}1,1,"A\nB",2021-05-31\n2,0,Secret,\n3,1,C,2021-05-31\n`;
  const { records } = await importFiles({ "users.csv": text.replaceAll("\n", "\r") });
  expect(records).toMatchObject([{ name: "A B" }, { id: 2, public: false }, { name: "C" }]);
});

test("a first line without the names of columns may be a private row, and is not quoted", async () => {
  const error = await errorsOf({ "users.csv": "43,0,Secret,2021-05-31\n" });
  expect(error).toStartWith(
    "users.csv does not begin with the names of columns; the columns can be",
  );
  expect(error).not.toContain("Secret");
});

test.each(["\n", "\r\n \n", ";;;\n", "sep=;\n", "\n\n\n\n"])(
  "after the first line %j, the header names the columns and shows the separator",
  async (start) => {
    const text = `${start}id;public;name;created_at\n1;1;Nowak, Jan;2021-05-31\n`;
    const { records } = await importFiles({ "users.csv": text });
    expect(records).toMatchObject([{ id: 1, name: "Nowak, Jan" }]);
  },
);

test.each([",", ";", "\t"])(
  "after sep=%s no other separator in the header counts",
  async (given) => {
    const others = ",;\t".replace(given, "").repeat(5);
    const rows = [`id|public|name|created_at|about${others}`, "1|1|Ann|2021-05-31|x"];
    const text = ["sep=|", ...rows].join("\n").replaceAll("|", given);
    const { records } = await importFiles({ "users.csv": text });
    expect(records).toMatchObject([{ id: 1, name: "Ann" }]);
  },
);

test("tables with tabs, too, are in files that end in .csv", async () => {
  const text = `${users}1,1,Ann,2021-05-31\n`.replaceAll(",", "\t");
  const folder = makeFolder({ "users.tsv": text });
  for (const dataset of [join(folder, "users.tsv"), Buffer.from(`sep=\t\n${text}`)]) {
    await expect(importDataset(dataset, join(folder, "s"))).rejects.toThrow(
      "the input is a CSV file; import its folder, or a name that",
    );
  }
  const all = importDataset(folder, join(folder, "s"));
  await expect(all).rejects.toThrow(" has users.tsv; rename it to users.csv");
});

test("a single table that is compressed must be unpacked", async () => {
  const folder = makeFolder({ "Members.csv.gz": Bun.gzipSync(`${users}1,1,Ann,2021-05-31\n`) });
  const single = importDataset(join(folder, "Members.csv.gz"), join(folder, "s"));
  await expect(single).rejects.toThrow("the source is a compressed table; unpack it with gunzip");
});

test("a FIFO is an error, because reading it could take forever", async () => {
  const folder = temporaryFolder();
  await run(["mkfifo", join(folder, "users.csv")]);
  for (const source of [folder, join(folder, "users.csv")]) {
    const importing = importDataset(source, join(folder, "s"));
    await expect(importing).rejects.toThrow("users.csv is not a regular file");
  }
});

test("bytes are text, except in public", () => {
  const bytes = (text: string) => Buffer.from(text);
  const row = {
    id: bytes("7"),
    public: bytes("\u0001"),
    name: bytes("Ann"),
    member_count: bytes("5"),
    created_at: bytes("2021-05-31"),
    company_id: bytes("0"),
  };
  const read = { id: 7, name: "Ann", member_count: 5, created_at: "2021-05-31T00:00:00+00:00" };
  const sqlite = { ...sheet, isSpreadsheet: false };
  const mysql = { ...sqlite, dialect: dialects.mysql };
  expect(toCells(row, sqlite)).toEqual({ ...read, public: row.public });
  expect(toCells(row, mysql)).toEqual({ ...read, public: true });
  const keys = { ...read, id: "37", company_id: "30", public: true };
  expect(toCells(row, { ...mysql, ids: idFormats.keys })).toEqual(keys);
});

const yes = "1 true T yes Y on WAHR ja Vrai oui PRAWDA tak VERDADERO SÍ pravda ano";
const no = "0 FALSE f No n OFF falsch nein FAUX non FAŁSZ nie falso nepravda NE";
const bytes = ["0", "1", "true", "\u0000\u0001", ""].map((text) => Buffer.from(text));
test.each<[boolean | undefined, string, unknown[]]>([
  [true, yes, [true, 1, Buffer.of(1), "\u0001"]],
  [false, no, [false, 0n, " 0 ", Buffer.of(0), "\u0000"]],
  [undefined, "2 10 01 1.0 si x", [...bytes, null, undefined, "", " ", 2, [true], ["1"], [0], {}]],
])("public is %p in all languages", (expected, words, others) => {
  for (const cell of [...words.split(" "), ...others]) {
    const value = toPublic(cell);
    expect([cell, typeof value === "boolean" ? value : undefined]).toEqual([cell, expected]);
  }
});

describe("advice about a cell works when it is followed to the letter", () => {
  const header = "id,public,name,created_at,avatar_url,company_id,company_role\n";
  const good = {
    id: "1",
    public: "1",
    name: "Ann",
    created_at: "2024-03-09 17:05:00",
    avatar_url: "",
    company_id: "3",
    company_role: "",
  };
  const files = (cell: Partial<typeof good>) => ({
    "users.csv": `${header}${Object.values({ ...good, ...cell })}\n2,0,,,,,\n`,
    "companies.csv": "id,name\n3,Acme\n",
  });
  const ann = user(1, "Ann", { company: { id: 3, role: "Member" } });

  test.each<[keyof typeof good, string, string, string]>([
    ["created_at", "1710003900000", "divide it by 1,000", String(1710003900000 / 1000)],
    ["created_at", "9-Mar-2024", "31.5.2021", "9.3.2024 17:05"],
    ["created_at", "9-Mar-2024", "Unix seconds", "1710003900"],
    ["public", "1.0", 'must be true or false, got "1.0"', "1"],
    ["avatar_url", '"NULL"', "leave it empty", ""],
    ["avatar_url", "none", "leave it empty", ""],
    ...["no", "-", "0", "FALSE"].map((word): [keyof typeof good, string, string, string] => {
      return ["avatar_url", word, `got "${word}" (user 1)`, ""];
    }),
    ["company_id", '"NULL"', "leave it empty", ""],
    ["company_role", '"None"', "leave it empty", ""],
    ["avatar_url", "#BEZUG!", "correct the formula", ""],
    ["id", '"1,000"', 'got "1,000"', "1000"],
  ])("%s: %s, %s", async (column, wrong, advice, cured) => {
    // Whatever the base, what stands for no avatar is none.
    for (const avatarBase of [undefined, "https://a.example/"]) {
      expect(await errorsOf(files({ [column]: wrong }), { avatarBase })).toContain(advice);
    }
    const { records } = await importFiles(files({ [column]: cured }));
    const company = column === "company_id" ? null : ann.company;
    const people = [{ ...ann, id: column === "id" ? 1000 : 1, company }, private_(2)];
    expect(records.slice(1)).toEqual(people.sort((a, b) => a.id - b.id));
  });

  test.each<[keyof typeof good, string, string]>([
    ["created_at", "0000-00-00", "leave out such users"],
    ["created_at", "infinity", "leave out such users"],
    ["created_at", '"NULL"', "leave out the row"],
    ["id", '"NULL"', "leave out the row"],
  ])("%s: %s, %s", async (column, wrong, advice) => {
    expect(await errorsOf(files({ [column]: wrong }))).toContain(advice);
    const { records } = await importFiles({ "users.csv": `${header}2,0,,,,,\n` });
    expect(records).toEqual([private_(2)]);
  });

  test.each<[Partial<typeof good>, ImportOptions, string]>([
    [{ avatar_url: "a.png" }, { avatarBase: "https://a.example" }, "--avatar-base URL"],
    [{ id: "1x" }, { idMap: "ids" }, "--id-map FILE"],
    [{ created_at: "3/9/2024 17:05" }, { dates: "mdy" }, "--dates mdy"],
  ])("%j with %j", async (cell, options, advice) => {
    expect(await errorsOf(files(cell))).toContain(advice);
    const idMap = options.idMap && join(temporaryFolder(), options.idMap);
    const { records } = await importFiles(files(cell), { ...options, idMap });
    const avatar_url = options.avatarBase ? `${options.avatarBase}/a.png` : null;
    const people = records.filter(({ type }) => type === "user");
    expect(people).toEqual([
      expect.objectContaining({ id: 1, name: "Ann", avatar_url, created_at: ann.created_at }),
      private_(2),
    ]);
  });
});

test.each(["1.0", "0.0", "1,00"])("public as %j is an error", async (text) => {
  expect(await errorsOf({ "users.csv": `${users}1,"${text}",Ann,2021-05-31\n` })).toBe(
    `users.csv, line 2: public: must be true or false, got "${text}" (user 1)`,
  );
});

test.each([
  ["2021-05-31 10:00:00 UTC", "2021-05-31T10:00:00Z"],
  ["31.5.2021 9:05 gmt", "2021-05-31T09:05:00Z"],
  ["2021-05-31 9:05 PM", "2021-05-31T21:05:00Z"],
  ["2021-05-31 9:05 pm UTC", "2021-05-31T21:05:00Z"],
  ["31.5.2021 9:05 PM +02:00", "2021-05-31T19:05:00Z"],
  ["20210531100000", "2021-05-31T10:00:00Z"],
  [Buffer.from("19900101000000"), "1990-01-01T00:00:00Z"],
  [99991231235959n, "9999-12-31T23:59:59Z"],
  ["31.5.2021", "2021-05-31T00:00:00Z"],
  ["31. 05. 2021 9:05", "2021-05-31T09:05:00Z"],
  ["31.05.2021 09:05:59,9 +02:00", "2021-05-31T07:05:59Z"],
  ["2021-05-31", "2021-05-31T00:00:00Z"],
  ["2021-05-31 9:05z", "2021-05-31T09:05:00Z"],
  ["2021-05-31T23:05-01", "2021-06-01T00:05:00Z"],
  [" 1710003900,9 ", "2024-03-09T17:05:00Z"],
  [1710003900.9, "2024-03-09T17:05:00Z"],
  ["100000000", "1973-03-03T09:46:40Z"],
  [99_999_999_999n, "5138-11-16T09:46:39Z"],
  [new Date(-1), "1969-12-31T23:59:59Z"],
])("the time %p is %s", (cell, expected) => {
  expect(formatTime(parseTime(String(toTime(cell))) ?? 0)).toBe(expected);
});

test.each([
  ["44317", spreadsheet],
  ["44317,5", spreadsheet],
  ["9000", spreadsheet],
  ["5000000", spreadsheet],
  ["20210531", spreadsheet],
  ["99999999.9", spreadsheet],
  ["100000000000", milliseconds],
  ["1710003900000", milliseconds],
  ["1710003900000000", milliseconds],
  // MediaWiki writes times of 14 digits, but not these.
  ["20211331100000", milliseconds],
  ["19891231235959", milliseconds],
  ["5/13/21", forms],
  ["13/13/2021", forms],
  ["31.2.2021", forms],
  ["01.05.21", forms],
  ["31-May-2021", forms],
  ["2021-05-31 13:05 PM", forms],
  ["0000-00-00 00:00:00", noDate],
  ["00/00/0000", noDate],
  ["00.00.0000", noDate],
  ["-62135596800", noDate],
  ["0", noDate],
  ["infinity", noDate],
  ["-infinity", noDate],
  ["#VALUE!", formula],
  ["NULL", none],
])("%j is not a time", async (text, expected) => {
  const message = await errorsOf({ "users.csv": `${users}1,1,Ann,"${text}"\n` });
  expect(message).toBe(`users.csv, line 2: created_at: ${time}, got "${text}"${expected} (user 1)`);
});

const may = "2021-05-06T00:00:00Z";
const june = "2021-06-05T00:00:00Z";
const choose = "say which comes first with --dates dmy or --dates mdy";
/** Imports users who have these dates, and returns the times or the error. */
async function timesOf(dates: string[], options: ImportOptions = {}) {
  const rows = dates.map((date, at) => `${at + 1},1,Ann,"${date}"`).join("\n");
  const imported = importFiles({ "users.csv": `${users}${rows}\n` }, options);
  return imported.then(
    ({ records }) => records.map(({ created_at }) => created_at),
    ({ message }: Error) => message,
  );
}

test.each<[string, string[], string[]]>([
  ["Excel in the US", ["5/6/2021", "5/13/2021 14:30"], [may, "2021-05-13T14:30:00Z"]],
  ["Access in the US", ["5/6/2021", "5/13/2021 2:30:05 PM"], [may, "2021-05-13T14:30:05Z"]],
  [
    "a US form",
    ["12/31/2021, 12:05 AM", "1/1/2021 12:05pm"],
    ["2021-12-31T00:05:00Z", "2021-01-01T12:05:00Z"],
  ],
  [
    "a comma before the time, as JavaScript writes it in German and in British English",
    ["31.5.2021, 17:05:09", "31/05/2021, 17:05:09", "2021-05-31, 5:05 PM"],
    ["2021-05-31T17:05:09Z", "2021-05-31T17:05:09Z", "2021-05-31T17:05:00Z"],
  ],
  ["Excel in the UK", ["05/06/2021", "31/05/2021 09:05"], [june, "2021-05-31T09:05:00Z"]],
  [
    "Excel in France",
    ["05/06/2021 9:05:59", "31/05/2021"],
    ["2021-06-05T09:05:59Z", "2021-05-31T00:00:00Z"],
  ],
  [
    "a zone",
    ["05/06/2021 09:05 +02:00", "31/05/2021"],
    ["2021-06-05T07:05:00Z", "2021-05-31T00:00:00Z"],
  ],
  ["Japan", ["2021/5/6", "2021/05/31 9:05"], [may, "2021-05-31T09:05:00Z"]],
  [
    "several formats",
    ["5/6/2021", "2021-05-06", "6.5.2021", "5/13/2021"],
    [may, may, may, "2021-05-13T00:00:00Z"],
  ],
])("in a CSV file, the dates of a column show which number is the month: %s", async (...row) => {
  const [, dates, times] = row;
  expect(await timesOf(dates)).toEqual(times);
});

test.each<[string, string[], ImportOptions, string[] | string]>([
  ["are day-first", ["5.6.2021", "31.5.2021"], {}, [june, "2021-05-31T00:00:00Z"]],
  ["alone are day-first", ["5.6.2021 9:05"], {}, ["2021-06-05T09:05:00Z"]],
  // As LibreOffice in German writes a cell with the format m/d/yyyy.
  [
    "are month-first if one can be nothing else",
    ["5.6.2021", "5.13.2021 2:05 PM"],
    {},
    [may, "2021-05-13T14:05:00Z"],
  ],
  ["obey --dates mdy", ["5.6.2021", "5. 6. 2021"], { dates: "mdy" }, [may, may]],
  ["obey --dates dmy", ["5.6.2021"], { dates: "dmy" }, [june]],
  [
    "of both orders are an error",
    ["5.13.2021", "31.5.2021"],
    {},
    `users.csv: created_at: line 3 has the day first, and line 2 the month; correct one of them, or ${choose}`,
  ],
])("dates with dots %s", async (_, dates, options, expected) => {
  expect(await timesOf(dates, options)).toEqual(expected);
});

test("dates that do not show which number is the month need --dates", async () => {
  const dates = ["2021-05-06", "5/6/2021", "6/6/2021"];
  const unclear = "users.csv: created_at: nothing shows which number is the month, as in line 3";
  expect(await timesOf(dates)).toBe(`${unclear}; ${choose}`);
  expect(await timesOf(dates, { skipInvalid: true })).toBe(`${unclear}; ${choose}`);
  expect(await timesOf(dates, { dates: "mdy" })).toEqual([may, may, "2021-06-06T00:00:00Z"]);
  expect(await timesOf(dates, { dates: "dmy" })).toEqual([may, june, "2021-06-06T00:00:00Z"]);

  for (const impossible of ["40/5/2021", "13/0/2021", "5/40/2021", "0/13/2021", "00/00/0000"]) {
    const shown = await timesOf([impossible, "5/6/2021"], { skipInvalid: true });
    expect([impossible, shown]).toEqual([impossible, `${unclear}; ${choose}`]);
  }
  const both = ["5/13/2021", "5/6/2021", "31/05/2021"];
  const conflict = "users.csv: created_at: line 4 has the day first, and line 2 the month";
  expect(await timesOf(both)).toBe(`${conflict}; correct one of them, or ${choose}`);
  const got = `users.csv, line 2: created_at: ${time}, got "5/13/2021"${forms} (user 1)`;
  expect(await timesOf(both, { dates: "dmy" })).toBe(got);
});

test("each column of times decides on its own, and no message quotes a date", async () => {
  const unlocked = "user_id,achievement_id,tier,unlocked_at\n7,7,1,05/06/2021\n";
  const files = { ...community, "user_achievements.csv": unlocked };
  const unclear = "user_achievements.csv: unlocked_at: nothing shows which number is the month";
  expect(await errorsOf(files)).toBe(`${unclear}, as in line 2; ${choose}`);
  const clear = { ...files, "user_achievements.csv": `${unlocked}7,7,0,31/05/2021\n` };
  const { records } = await importFiles(clear, { avatarBase: "https://a.example" });
  const achievements = [{ id: 7, tier: 1, unlocked_at: june }];
  expect(records).toContainEqual(expect.objectContaining({ id: 7, type: "user", achievements }));
});

test("in a query, a date with slashes is an error, unless it begins with the year", () => {
  expect(toTime("31/05/2021")).toMatchObject({ value: "31/05/2021" });
  expect(toTime("5.13.2021")).toMatchObject({ value: "5.13.2021" });
  expect(toTime("2021/5/31 9:05")).toBe("2021-05-31T09:05:00+00:00");
});

test("a formula's error in a spreadsheet is no name, and becomes nobody's", async () => {
  const errors = ["#REF!", "#N/A", "#NAME?", "#VALUE!", "#DIV/0!"];
  const rows = errors.map((name, at) => `${at + 2},1,${name},2021-05-31\n`).join("");
  const files = { "users.csv": users + ann + rows };
  const name = "name: must be a non-blank string of 1 to 200 code points";
  expect((await errorsOf(files)).split("\n")).toEqual(
    errors.map((text, at) => {
      return `users.csv, line ${at + 3}: ${name}, got "${text}"; it is an error of a formula in a spreadsheet: correct the formula (user ${at + 2})`;
    }),
  );
  const { records } = await importFiles(files, { skipInvalid: true });
  expect(records).toEqual([user(1, "Ann"), ...errors.map((_, at) => private_(at + 2))]);
});

test("times before 1990 or in the future are reported, but not those of private users", async () => {
  const builtAtMs = Date.parse("2024-06-01T12:00:00Z");
  const dates = ["1989-12-31 23:59:59", "1990-01-01", "2024-06-02 12:00:00", "2024-06-02 12:00:01"];
  const rows = dates.map((date, at) => `${at + 1},1,Ann,${date}\n`).join("");
  const folder = makeFolder({
    ...community,
    "users.csv": `${users}${rows}9,0,Eve,1970-01-01\n7,1,Ann,2024-01-01\n42,1,Ann,never\n`,
    "user_achievements.csv":
      "user_id,achievement_id,tier,unlocked_at\n7,7,1,1970-01-01\n9,7,1,1970-01-01\n",
    "user_roles.csv": "user_id,role_id\n",
  });
  const target = join(temporaryFolder(), "snapshot");
  const { times } = await importDataset(folder, target, { builtAtMs, skipInvalid: true });
  expect(times).toEqual({ count: 3, example: "1989-12-31T23:59:59+00:00" });
});

test("an empty tier or time of an unlocked achievement is missing", async () => {
  const rows = "7,7,,2021-05-31\n7,7,1,\n";
  const unlocked = `user_id,achievement_id,tier,unlocked_at\n${rows}`;
  expect(await errorsOf({ ...community, "user_achievements.csv": unlocked })).toContain(
    "user_achievements.csv, line 2: tier: is missing\n" +
      "user_achievements.csv, line 3: unlocked_at: is missing",
  );
});

test("a user with too many achievements is found by the file and the id", async () => {
  const ids = Array.from({ length: 1000 }, (_, at) => at + 1);
  const definitions = ids.map((id) => `${id},Owl,${"0".repeat(150)},owl.svg,time,1,1\n`);
  const unlocks = ids.map((id) => `7,${id},1,2021-05-31\n`);
  const files = {
    "users.csv": `${users}7,1,Ann,2021-05-31\n`,
    "achievements.csv": `id,name,description,icon,kind,tier,points\n${definitions.join("")}`,
    "user_achievements.csv": `user_id,achievement_id,tier,unlocked_at\n${unlocks.join("")}`,
  };
  const error = "users.csv, id 7: achievements: must take at most 128 KB in a response, got ";
  expect(await errorsOf(files)).toStartWith(error);
});

test("an integer may have decimals of zeros, but no separator of thousands", () => {
  const toInteger = idFormats.integers.read;
  expect([12, "12", "12.0", "12,00", 12n].map(toInteger)).toEqual(Array(5).fill(12));
  expect(["1234.000", "1.000", "1,000"].map(toInteger)).toEqual([1234, "1.000", "1,000"]);
});

test.each([
  ["Excel in English", "\ufeff", ",", "\r\n", "TRUE", "FALSE", "2021-05-31 9:05", "7"],
  ["Excel in German", "\ufeff", ";", "\r\n", "WAHR", "FALSCH", "31.05.2021 09:05", "7,00"],
  ["Excel in Polish", "\ufeff", ";", "\r\n", "PRAWDA", "FAŁSZ", "2021-05-31 09:05", "7,00"],
  ["Excel in French", "\ufeffsep=;\r\n", ";", "\r\n", "VRAI", "FAUX", "2021-05-31 09:05", "7,0"],
  ["LibreOffice in Spanish", "", ";", "\n", "VERDADERO", "FALSO", "2021-05-31 09:05:00", "7,0"],
  ["LibreOffice in Czech", "sep=\t\n", "\t", "\n", "PRAVDA", "NEPRAVDA", "31. 5. 2021 9:05", "7"],
])("a file of %s", async (_, start, separator, end, yes, no, time, id) => {
  const text = (...rows: string[][]) =>
    start + rows.map((row) => row.join(separator) + end).join("");
  const header = [" ID", "Public ", "NAME", "Created  At", "Company_Id", "Avtar", ""];
  const ann = [id, `${yes} `, " Ann ", `${time} `, "0", "x", ""];
  const folder = makeFolder({
    " Users .CSV ": text(header, ann, ["8", no, "", "", "", "", ""]),
    "COMPANIES.csv": text(["Id", "Name", "Members Count"], ["3", "Acme", "x"]),
  });
  const target = join(temporaryFolder(), "snapshot");
  const { unknownColumns } = await importDataset(folder, target);
  const [company, ...people] = (await exported(target)).trim().split("\n").slice(0, -1);
  expect(JSON.parse(company ?? "")).toMatchObject({ id: 3, name: "Acme", member_count: 0 });
  const expected = [user(7, "Ann", { created_at: "2021-05-31T09:05:00Z" }), private_(8)];
  expect(people.map((line) => JSON.parse(line))).toEqual(expected);
  expect(unknownColumns).toEqual([
    { file: " Users .CSV ", column: "Avtar", meant: "avatar_url" },
    { file: "COMPANIES.csv", column: "Members Count", meant: "member_count" },
  ]);
});

test("separators in a quoted title separate nothing", async () => {
  const title = '"id";"name";"public";"created_at";"notes, which, we, like, to, keep"';
  const { records } = await importFiles({ "users.csv": `${title}\n1;Ann;yes;2024-03-09;-\n` });
  expect(records).toHaveLength(1);
});

test("the name of a file can have spaces instead of underscores", async () => {
  const { records } = await importFiles({
    "users.csv": `${users}7,yes,Ann,2021-05-31\n`,
    "roles.csv": "id,name,hierarchy\n1,Driver,10\n",
    " User Roles .CSV": "user id,role_id\n7,1\n",
  });
  expect(records.at(-1)).toMatchObject({ name: "Ann", roles: [1] });
});

const bad = (...lines: string[]) => ({ "users.csv": users + lines.join("\n") });
test.each<[string, Files, string]>([
  [
    "only roles",
    { "roles.csv": "" },
    " has neither users.csv nor companies.csv; the files can be ",
  ],
  [
    "an unknown file",
    { "users.csv": users, "Users 2.csv": "" },
    " has the unknown file Users 2.csv; the files",
  ],
  [
    "a name without its space",
    { "users.csv": users, "userroles.csv": "" },
    " has the unknown file userroles.csv; the files",
  ],
  ["queries", { "users.sql": "" }, " has the unknown file users.sql; the files can be roles.csv, "],
  [
    "a spreadsheet",
    { "users.xlsx": "", "companies.csv": "" },
    " has users.xlsx; save it as CSV UTF-8 in users.csv",
  ],
  [
    "a packed file",
    { "users.csv.gz": "", "companies.csv": "" },
    " has users.csv.gz; unpack it with gunzip as users.csv",
  ],
  [
    "a field that is left out",
    { "users.csv": "id,public,name,created_at,avatar_url\n1,yes,Ann,2021-05-31\n" },
    " has 4 fields, but the header has 5; a field with a separator or a line end must be in quotes, " +
      "as sqlite3 -csv and psql --csv write it, and one without a value must not be left out",
  ],
  ["a hidden ending", { "Users.csv.txt": "" }, " has Users.csv.txt; rename it to users.csv"],
  ["no header", { "users.csv": "" }, "users.csv is empty; its first line must name the columns"],
  ["no rows", bad(), "no users and no companies; nothing was written"],
  ["two files", { "users.csv": "", "Users .CSV": "" }, " has both Users .CSV and users.csv"],
  [
    "a missing column",
    { "users.csv": "id,Pubic,name,created_at\n" },
    'users.csv: no column is public; found "id", "name", "created_at", "Pubic" (public?)',
  ],
  [
    "a double column",
    { "users.csv": `${users.trim()},ID\n` },
    'users.csv: "id" and "ID" both fit id; remove one, or rename it',
  ],
  ["too few fields", bad("", "1,1,Ann"), "users.csv, line 3: has 3 fields"],
  ["too many fields", bad("1,1,Ann,0,x"), "line 2: has 5 fields"],
  ["a blank field too many", bad("1,1,Ann,0,"), "line 2: has 5 fields, but the header has 4; a"],
  ["a line of separators", bad("", ",".repeat(1e6)), "line 3: has more than 1,000 fields"],
  [
    "an open quote",
    bad("1,1,Ann,0", "", '2,1,"Ann'),
    'users.csv, line 4: a quote opens a field that is never closed; write a quote inside a field as ""',
  ],
  [
    "a closed quote",
    bad('1,1,"A"nn,0', '2,1,"A, B",0'),
    'line 2: a quoted field goes on after its closing quote; write a quote inside it as ""',
  ],
  [
    "a field too many beside escaped quotes",
    bad('1,1,"Joe \\"Speedy\\" Smith",0', "2,1,Bob,0,x"),
    "line 3: has 5 fields, but the header has 4",
  ],
  [
    "a field too many beside quotes that are characters",
    { "users.csv": 'id\tpublic\tname\tcreated_at\n1\t1\t"Joe" Smith\t0\n2\t1\tAnn\t0\tx\n' },
    "line 3: has 5 fields, but the header has 4",
  ],
  [
    "a field too few beside a backslash",
    { "users.csv": 'id\tpublic\tname\tcreated_at\n1\t1\t"Joe" \\ Bea\t0\n2\t1\tAnn\n' },
    "line 3: has 3 fields, but the header has 4",
  ],
  ["a long row", bad(`1,1,${"a".repeat(2 ** 20)},0`), "line 2: the record is longer than 1 MiB"],
  [
    "a long quoted field",
    bad(`1,1,"${"a\n".repeat(2 ** 19)}",0`),
    "line 2: a quote opens a field that is never closed",
  ],
  [
    "a line of a database's console",
    { "users.csv": "id|public|name|created_at\n1|1|Ann|2021-05-31\n" },
    "line 1: commas, semicolons or tabs must separate the columns, as sqlite3 -csv -header and",
  ],
  [
    "Windows-1252",
    { "users.csv": Buffer.from(`${users}1,1,Zoë,2021-05-31\n`, "latin1") },
    "users.csv is not UTF-8, but probably Windows-1252; save it as CSV UTF-8 (with soffice: ",
  ],
  [
    "a column of question marks",
    bad(...["????", "?? ???", "Ann", "?"].map((name, at) => `${at + 1},0,${name},`)),
    "users.csv: most names are question marks; save it as CSV UTF-8 (with soffice: --convert-to",
  ],
  [
    "UTF-16",
    { "users.csv": Buffer.from(`\ufeff${users}`, "utf16le") },
    "users.csv is in UTF-16; save it as UTF-8, or use iconv -f UTF-16 -t UTF-8 FILE > NEW",
  ],
])("%s in a folder is an error", async (_, files, expected) => {
  expect(await errorsOf(files)).toContain(expected);
});
