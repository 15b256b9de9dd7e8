/** Imports of datasets that are truncated, empty or invalid in some lines. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { PublicUserLine } from "../../src/domain/model.ts";
import { checkSnapshot } from "../../src/snapshot/read/check.ts";
import {
  community,
  exported,
  listBeside,
  makeFile,
  makeSnapshot,
  stateOf,
  textOf,
  user,
} from "../datasets.ts";
import { executable, openInProcess, roadbook, run, temporaryFolder } from "../support.ts";

const role = { type: "role", id: 1, name: "Driver", hierarchy: 1 };
const company = { type: "company", id: 1, name: "Acme", member_count: 1 };
const night = {
  type: "achievement",
  id: 7,
  name: "Night Owl",
  description: "",
  icon: "a.svg",
  kind: "x",
  tier: 0,
  points: 0,
};
const ann = user(1, "Ann");
const end = (lines: unknown) => ({ type: "end", lines });

/** Runs `import - --to s` in `folder`, with `dataset` as standard input. */
function importStream(
  dataset: string | Uint8Array | object[],
  words: string[] = [],
  cwd = temporaryFolder(),
) {
  const stdin = Array.isArray(dataset) ? textOf(dataset) : dataset;
  return roadbook(["import", "-", "--to", "s", ...words], { cwd, stdin });
}

describe("the end line", () => {
  const wrong: [string, string | object[], string[], string][] = [
    [
      "is one too high",
      [role, ann, end(3)],
      [],
      "line 3: lines: must be 2 (the number of lines before this one), got 3",
    ],
    [
      "is one too low",
      [role, ann, end(1)],
      [],
      "line 3: lines: must be 2 (the number of lines before this one), got 1",
    ],
    [
      "counts blank lines",
      `${textOf([role])}\n \n${textOf([ann, end(4)])}`,
      [],
      "line 5: lines: must be 2 (the number of lines before this one), got 4",
    ],
    ["is not the last", [role, end(1), ann], [], "line 3: comes after the end line (line 2)"],
    ["is repeated", [ann, end(1), end(2)], [], "line 3: comes after the end line (line 2)"],
    ["has no number", [ann, end("1")], [], "line 2: lines: must be an integer from 0"],
    [
      "is missing with --expect-end",
      [role, ann],
      ["--expect-end"],
      "line 3: the end line is missing, so the dataset may be incomplete",
    ],
    [
      "is missing in an empty dataset",
      "",
      ["--expect-end"],
      "line 1: the end line is missing, so the dataset may be incomplete",
    ],
  ];

  describe.each([["import"], ["apply"]])("in the input of %s", (command) => {
    test.each(wrong)(
      "is an error if it %s, and the target is unchanged",
      async (_, lines, words, expected) => {
        const target = await makeSnapshot();
        const before = stateOf(target);
        const stdin = typeof lines === "string" ? lines : textOf(lines);
        const given = [command, "-", "--to", target, ...words];
        const { code, stdout, stderr } = await roadbook(given, { stdin });
        expect([code, stdout]).toEqual([1, ""]);
        expect(stderr).toStartWith(`roadbook: 1 error in the `);
        expect(stderr).toContain(`nothing was written\n${expected}`);
        expect(stateOf(target)).toEqual(before);
      },
    );

    test("is accepted if it is correct, with and without --expect-end", async () => {
      const target = await makeSnapshot([role, ann]);
      const stdin = `\n${textOf([role])} \r\n${textOf([ann, end(2)])}\n  \n`;
      for (const words of [[], ["--expect-end"]]) {
        const given = [command, "-", "--to", target, ...words];
        expect(await roadbook(given, { stdin })).toMatchObject({ code: 0, stderr: "" });
      }
    });
  });

  test("is the last line that export and seed write", async () => {
    for (const words of [
      ["export", await makeSnapshot()],
      ["seed", "--users", "20"],
    ]) {
      const { stdout } = await roadbook(words);
      const lines = stdout.trim().split("\n");
      expect(lines.at(-1)).toBe(`{"type":"end","lines":${lines.length - 1}}`);
      expect(await importStream(stdout, ["--expect-end"])).toMatchObject({ code: 0 });
      // A truncated stream may end right after a complete line.
      const cut = `${lines.slice(0, -1).join("\n")}\n`;
      expect(await importStream(cut, ["--expect-end"])).toMatchObject({ code: 1 });
    }
  });

  test("may be among the objects in createRoadbook's dataset", async () => {
    const { fetch } = await openInProcess({ dataset: [ann, end(1)] });
    expect((await fetch("/users/public/1")).status).toBe(200);
    await expect(openInProcess({ dataset: [ann, end(2)] })).rejects.toThrow(
      "lines: must be 1 (the number of lines before this one), got 2",
    );
  });
});

describe("an import that is empty or would remove more than half of the users or companies is an error", () => {
  const people = (count: number, from = 1) =>
    Array.from({ length: count }, (_, index) => user(from + index, `User ${index}`));
  const companies = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...company, id: index + 1 }));
  const hidden = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ type: "user", id: 900 + index, public: false }));

  test.each([
    ["nothing", ""],
    ["blank lines", "\n\n"],
    ["only roles", textOf([role])],
    ["only an end line", textOf([end(0)])],
    ["an empty gzip", gzipSync("")],
  ])("%s, with and without a target", async (_, dataset) => {
    const folder = temporaryFolder();
    const expected = {
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^roadbook: the dataset has no users and no companies; nothing was written( \(if the dataset comes through a pipe, check whether the command before it failed\))?\n$/,
      ),
    };
    expect(await importStream(dataset, ["--allow-shrink"], folder)).toEqual(expected);
    expect(listBeside(join(folder, "s"))).toEqual([]);
    const target = await makeSnapshot([ann]);
    copyFileSync(target, join(folder, "s"));
    expect(await importStream(dataset, [], folder)).toEqual(expected);
    expect(readFileSync(join(folder, "s")).equals(readFileSync(target))).toBe(true);
  });

  test.each([
    ["half of the users", people(10), people(5), undefined],
    ["more than half of the users", people(10), people(4), "6 of its 10 users"],
    ["more than half of an odd number", people(11), people(5), "6 of its 11 users"],
    ["less than half of an odd number", people(11), people(6), undefined],
    ["half of the companies", [ann, ...companies(4)], [ann, ...companies(2)], undefined],
    [
      "more than half of the companies",
      [ann, ...companies(4)],
      [ann, ...companies(1)],
      "3 of its 4 companies",
    ],
    ["the only company", [ann, company], [ann], "1 of its 1 companies"],
    ["no user, although most are private now", people(10), [ann, ...hidden(9)], undefined],
    ["users who were private", hidden(10), hidden(4), "6 of its 10 users"],
    ["all users, but adds others", people(10), people(10, 500), undefined],
  ])("%s", async (_, old, next, expected) => {
    const target = await makeSnapshot(old);
    const before = stateOf(target);
    const dataset = makeFile(next);
    const { code, stderr } = await roadbook(["import", dataset, "--to", target]);
    expect(code).toBe(expected ? 1 : 0);
    if (expected) {
      expect(stderr).toBe(
        `roadbook: ${target} would lose ${expected}; nothing was written (to remove more than half, add --allow-shrink)\n`,
      );
      expect(stateOf(target)).toEqual(before);
      const words = ["import", dataset, "--to", target, "--allow-shrink"];
      expect(await roadbook(words)).toMatchObject({ code: 0, stderr: "" });
    }
    expect(await exported(target)).toBe(await exported(await makeSnapshot(next)));
  });

  test("the old counts are read even from a snapshot with another schema version", async () => {
    const target = await makeSnapshot(people(10));
    const bytes = readFileSync(target);
    bytes.writeUInt32BE(1, 60); // user_version
    writeFileSync(target, bytes);
    await expect(checkSnapshot(target)).rejects.toThrow("has schema 1");
    const words = ["import", makeFile(people(4)), "--to", target];
    expect((await roadbook(words)).stderr).toContain("6 of its 10 users");
    expect(await roadbook([...words, "--allow-shrink"])).toMatchObject({ code: 0 });
  });

  test("a snapshot whose counts cannot be read may be replaced", async () => {
    const target = await makeSnapshot(people(10));
    writeFileSync(target, readFileSync(target).subarray(0, 1000));
    const words = ["import", makeFile([ann]), "--to", target];
    expect(await roadbook(words)).toMatchObject({ code: 0 });
    expect((await checkSnapshot(target)).counts.users).toBe(1);
  });
});

describe("--skip-invalid", () => {
  /**
   * Imports the lines with --skip-invalid. Returns the output and an export of the new snapshot.
   */
  async function importSkipping(lines: (object | string)[], words: string[] = []) {
    const folder = temporaryFolder();
    const text = lines
      .map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
      .join("\n");
    const outcome = await importStream(`${text}\n`, ["--skip-invalid", ...words], folder);
    if (outcome.code !== 0) return { ...outcome, kept: undefined, bytes: "" };
    const path = join(folder, "s");
    await checkSnapshot(path);
    const kept = (await exported(path)).trim().split("\n").slice(0, -1);
    return {
      ...outcome,
      kept: kept.map((line) => JSON.parse(line)),
      bytes: readFileSync(path, "latin1"),
    };
  }

  test("skips invalid lines and references to them, and reports both", async () => {
    const unlock = { id: 7, tier: 1, unlocked_at: "2024-01-01T00:00:00Z" };
    const { code, stdout, stderr, kept } = await importSkipping([
      { ...role, name: "" },
      { ...role, id: 2 },
      { ...night, points: -1 },
      { ...night, id: 8 },
      user(4, ""),
      user(5, "Eve", {
        company: { id: 1, role: "Owner" },
        roles: [1, 2],
        achievements: [unlock, { ...unlock, id: 8 }],
      }),
      { ...company, member_count: "many" },
      user(6, "Zoe", { created_at: "yesterday" }),
      user(7, "Max", {
        avatar_url: "",
        roles: [2, null],
        achievements: [
          { ...unlock, id: 8 },
          { ...unlock, id: "8" },
        ],
      }),
      end(9),
    ]);
    expect([code, stdout, stderr]).toEqual([
      0,
      "imported 4 users (2 public), 0 companies, 1 achievement, 1 role to s, skipped 5 lines, 3 fields and 3 references, made 2 users private\n",
      `line 1: name: must be a non-blank string of 1 to 200 code points, got "" (role 1)
line 5: name: must be a non-blank string of 1 to 200 code points, got ""; the user becomes private (user 4)
line 3: points: must be an integer from 0 to 9007199254740991, got -1 (achievement 7)
line 6: company.id: there is no company 1 (user 5)
line 6: roles[0]: there is no role 1 (user 5)
line 6: achievements[0].id: there is no achievement 7 (user 5)
line 7: member_count: must be an integer from 0 to 9007199254740991, got "many" (company 1)
line 8: created_at: must be an RFC 3339 time on a real date, with Z or an offset, such as 2024-03-09T17:05:00Z, got "yesterday"; the user becomes private (user 6)
line 9: avatar_url: must be ${PublicUserLine.properties.avatar_url.description}, got ""; the rest of the user is kept (user 7)
line 9: roles[1]: must be an integer from 1 to 9007199254740991, got null; the rest of the user is kept (user 7)
line 9: achievements[1].id: must be an integer from 1 to 9007199254740991, got "8"; the rest of the user is kept (user 7)
`,
    ]);
    expect(kept).toEqual([
      { ...role, id: 2 },
      { ...night, id: 8 },
      { type: "user", id: 4, public: false },
      user(5, "Eve", { company: null, roles: [2], achievements: [{ ...unlock, id: 8 }] }),
      { type: "user", id: 6, public: false },
      user(7, "Max", {
        avatar_url: null,
        company: null,
        roles: [2],
        achievements: [{ ...unlock, id: 8 }],
      }),
    ]);
  });

  test("a role or achievement that is listed twice is kept once", async () => {
    const { kept, stdout } = await importSkipping([role, { ...ann, roles: [1, 1] }]);
    expect(kept?.[1]).toMatchObject({ roles: [1] });
    expect(stdout).toEndWith("to s, skipped 1 field\n");
  });

  test("changes nothing for a dataset without errors", async () => {
    expect(await importSkipping([role, ann, end(2)])).toMatchObject({
      stdout: "imported 1 user (1 public), 0 companies, 0 achievements, 1 role to s\n",
      stderr: "",
      kept: [role, ann],
    });
  });

  test("shows five errors of each kind and the total, or more errors with --max-errors", async () => {
    const lines = [...Array(33).fill({ ...company, name: "" }), ann];
    const { stdout, stderr } = await importSkipping(lines);
    expect(stderr).toEndWith('got "" (company 1)\n  … and 28 more like this (33 in all)\n');
    const { stderr: all } = await importSkipping(lines, ["--max-errors", "33"]);
    expect(all).toMatch(/^line 33: .*\n$/m);
    expect(stdout).toEndWith("to s, skipped 33 lines\n");
  });

  test("keeps the first of two lines with the same id", async () => {
    const { kept } = await importSkipping([
      role,
      { ...role, name: "Other" },
      company,
      { ...company, name: "Other" },
      ann,
      user(1, "Other"),
    ]);
    expect(kept).toEqual([role, company, expect.objectContaining({ name: "Ann" })]);
  });

  const hidden = { type: "user", id: 1, public: false };
  const bea = user(2, "Bea");
  const eve = JSON.stringify(user(1, "Evelyn", { achievements: [], roles: [1] }));
  const hiding: [string, (object | string)[]][] = [
    ["a private line, then a public one", [hidden, eve]],
    ["a public line, then a private one", [eve, hidden]],
    ["a private line with an unknown field", [eve, { ...hidden, nick: "E" }]],
    ["a private line with an unknown field, then the public line", [{ ...hidden, nick: "E" }, eve]],
    ["a line without the field public", [eve, { type: "user", id: 1 }]],
    ["a line in which public is a string", [eve, { ...hidden, public: "no" }]],
    ["an invalid line that says public", [eve, { ...user(1, "Evelyn"), nick: "E" }]],
    ["a public line with a wrong avatar", [eve, user(1, "Evelyn", { avatar_url: "" })]],
    ["a wrong avatar, then another line", [user(1, "Evelyn", { avatar_url: "" }), eve]],
    ["a deletion", [eve, { type: "user", id: 1, deleted: true }]],
    ["an invalid line alone", [user(1, "")]],
  ];
  test.each(hiding)("%s makes the user private", async (_, lines) => {
    const { code, stderr, kept, bytes } = await importSkipping([role, bea, ...lines]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^line \d: /);
    expect(kept).toEqual([role, hidden, expect.objectContaining(bea)]);
    expect(bytes.toLowerCase()).not.toContain("evelyn");
  });

  test.each([
    ["an invalid line for a company with the same id", { ...company, name: "" }],
    ["a second, valid public line", user(1, "Anna")],
  ])("%s makes nobody private", async (_, line) => {
    const { kept } = await importSkipping([bea, ann, line]);
    expect(kept).toEqual([ann, bea].map((one) => expect.objectContaining(one)));
  });

  test.each([
    ["JSON", '{"type":"user","id":1,"public":false,"name":"E"E"}'],
    ["an object", JSON.stringify([hidden])],
    ["with a type", JSON.stringify({ id: 1, public: false })],
    ["of a known type", JSON.stringify({ ...hidden, type: "User" })],
    ["with an id", JSON.stringify({ type: "user", public: false })],
    ["with an id that is a number", JSON.stringify({ ...hidden, id: "1" })],
    ["with an id from 1", JSON.stringify({ ...hidden, id: 0 })],
    ["with an id to 2^53 - 1", '{"type":"user","id":9007199254740992,"public":false}'],
    ["at most 1 MiB", `{"type":"user","id":1,"name":"${"x".repeat(2 ** 20)}"}`],
  ])("a line that is not %s is still an error", async (_, line) => {
    const { code, stderr } = await importSkipping([bea, line]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("\nline 2: ")]);
  });

  const bytes = Buffer.from(textOf([role, bea, ann]));
  test.each([
    ["truncated gzip", gzipSync(bytes).subarray(0, 60), /gzip data is damaged or ends/],
    ["bytes that are not UTF-8", Buffer.concat([bytes, Buffer.from("\xff\n", "latin1")]), /UTF-8/],
    [
      "an unfinished last line",
      bytes.subarray(0, -20),
      /line 3: must be valid JSON.*\n {2}fix: .* pipe/,
    ],
    [
      "an end line with the wrong number",
      textOf([bea, user(3, ""), end(9)]),
      /lines: must be 2 \(the number of lines before this one\), got 9/,
    ],
    ["an end line with a string", textOf([bea, end("1")]), /line 2: lines: must be/],
    ["a line after the end line", textOf([bea, end(1), ann]), /line 3: comes after the end line/],
    ["no valid user or company", textOf([{ ...company, name: "" }]), /no users and no companies/],
  ])("%s is still an error", async (_, dataset, expected) => {
    const folder = temporaryFolder();
    const { code, stdout, stderr } = await importStream(dataset, ["--skip-invalid"], folder);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(expected);
    expect(listBeside(join(folder, "s"))).toEqual([]);
  });

  test("skips an invalid last line without a line break, if the line is complete JSON", async () => {
    const text = textOf([bea, { ...ann, name: "" }]).trimEnd();
    const { code, stdout } = await importStream(text, ["--skip-invalid"]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("to s, skipped 1 line, made 1 user private\n"),
    ]);
  });

  test("does not excuse a missing end line if --expect-end is set", async () => {
    expect(await importSkipping([bea, user(3, "")], ["--expect-end"])).toMatchObject({ code: 1 });
    expect(await importSkipping([bea, user(3, ""), end(2)], ["--expect-end"])).toMatchObject({
      code: 0,
    });
  });

  test("does not allow the loss of more than half of the users", async () => {
    const folder = temporaryFolder();
    copyFileSync(await makeSnapshot([ann, bea, user(3, "Cid")]), join(folder, "s"));
    const lines = [ann, user(2, ""), user(3, "")];
    const { code, stderr } = await importStream(lines, ["--skip-invalid"], folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining("2 of its 3 users")]);
  });
});

describe("a user without an avatar", () => {
  const lines = [
    ann,
    { ...ann, id: 2, avatar_url: null },
    { ...ann, id: 3, avatar_url: undefined },
  ];

  test("has a generated avatar, whose path becomes a URL like any other avatar path", async () => {
    for (const [publicUrl, base] of [
      [undefined, "http://roadbook.test"],
      ["https://api.example/drivers/", "https://api.example/drivers"],
    ]) {
      const { fetch } = await openInProcess({ dataset: lines, publicUrl });
      for (const id of [2, 3]) {
        const { user } = JSON.parse(await (await fetch(`/users/public/${id}`)).text());
        expect(user.avatar_url).toBe(`${base}/avatars/${id}.svg`);
      }
      const { users } = JSON.parse(await (await fetch("/search/users?q=ann")).text());
      expect(users.map((one: { avatar_url: string }) => one.avatar_url)).toEqual([
        "https://avatars.example/1.png",
        `${base}/avatars/2.svg`,
        `${base}/avatars/3.svg`,
      ]);
    }
  });

  test("is exported without an avatar, even after a change", async () => {
    const target = await makeSnapshot(lines);
    const changes = makeFile([{ ...ann, avatar_url: undefined }]);
    expect(await roadbook(["apply", changes, "--to", target])).toMatchObject({ code: 0 });
    expect((await exported(target)).match(/"avatar_url":null/g)).toHaveLength(3);
  });
});

describe("a file of another kind is overwritten only with --force", () => {
  const fold = (code: number) => (code === 0 ? "overwritten" : "kept");

  test.each([
    ["another program's database", "kept", "kept"],
    ["a snapshot", "overwritten", "kept"],
    ["a dataset", "kept", "overwritten"],
    ["a dataset, compressed", "kept", "overwritten"],
    ["a text", "kept", "kept"],
    ["an empty file", "kept", "overwritten"],
  ])("%s is %s by import and %s by export and seed", async (what, byImport, byExport) => {
    const snapshot = await makeSnapshot();
    const target = join(temporaryFolder(), "target");
    const bytes = {
      "a snapshot": () => readFileSync(snapshot),
      "a dataset": () => textOf([role, ann]),
      "a dataset, compressed": () => gzipSync(textOf([role, ann])),
      "a text": () => "Dear diary,\n",
      "an empty file": () => "",
    }[what];
    const commands: [string[], string][] = [
      [["import", makeFile(community), "--to", target], byImport],
      [["export", snapshot, "--to", target], byExport],
      [["seed", "--users", "3", "--to", target], byExport],
    ];
    for (const [words, expected] of commands) {
      if (bytes) writeFileSync(target, bytes());
      else new Database(target).exec("DROP TABLE IF EXISTS precious; CREATE TABLE precious (id)");
      const before = stateOf(target);
      const { code, stderr } = await roadbook(words);
      expect([words[0], fold(code)]).toEqual([words[0], expected]);
      if (code !== 0) {
        expect(stderr).toMatch(/^roadbook: .*target exists and is not .*with --force\n$/);
        expect(stateOf(target)).toEqual(before);
        expect(await roadbook([...words, "--force"])).toMatchObject({ code: 0, stderr: "" });
      }
      expect(kindOf(target)).toBe(words[0] === "import" ? "a snapshot" : "a dataset");
      rmSync(target);
    }
  });
});

test("import --dry-run reports what an import would and writes nothing", async () => {
  const to = "s";
  const folder = temporaryFolder();
  const dryRun = (dataset: object[]) =>
    roadbook(["import", makeFile(dataset), "--to", to, "--dry-run"], { cwd: folder });
  expect(await dryRun([role, ann])).toEqual({
    code: 0,
    stdout: `dry run (nothing was written): would import 1 user (1 public), 0 companies, 0 achievements, 1 role to ${to}\n`,
    stderr: "",
  });
  expect(readdirSync(folder)).toEqual([]);
  await roadbook(["import", makeFile([ann, user(2, "Bea"), user(3, "Eve")]), "--to", to], {
    cwd: folder,
  });
  const before = [readdirSync(folder), stateOf(join(folder, to))];
  expect((await dryRun([ann, user(2, "Bea")])).code).toBe(0);
  expect((await dryRun([ann])).stderr).toContain("2 of its 3 users");
  expect((await dryRun([{ ...ann, name: "" }])).stderr).toContain("line 1: name: must be");
  expect([readdirSync(folder), stateOf(join(folder, to))]).toEqual(before);
});

test("an import shows its progress on a terminal, but not in a pipe", async () => {
  const cwd = temporaryFolder();
  for (const [source, before, expected] of [
    [makeFile([ann]), "", "reading 100 %"],
    ["-", `cat ${makeFile([ann])} | `, "reading 0 MB"],
  ]) {
    const command = `${before}${await executable()} import ${source} --to s`;
    const { stdout } = await run(["script", "-qec", command, "/dev/null"], { cwd });
    expect(stdout.split("\r\u001b[K")).toEqual([
      "",
      expected,
      expect.stringMatching(/^indexing \d+ %$/),
      expect.stringMatching(/^imported .* to s\r\n$/),
    ]);
    expect((await run(["sh", "-c", command], { cwd })).stderr).toBe("");
  }
});

test("a target such as file:/s is a path, not a URI", async () => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, "file:"));
  const stdin = textOf([ann]);
  const { code, stderr } = await roadbook(["import", "-", "--to", "file:/s"], { cwd, stdin });
  expect([code, stderr]).toEqual([0, ""]);
  expect(listBeside(join(cwd, "file:/s"))).toEqual(["s"]);
});

function kindOf(path: string): string {
  return readFileSync(path, "latin1").startsWith("SQLite") ? "a snapshot" : "a dataset";
}
