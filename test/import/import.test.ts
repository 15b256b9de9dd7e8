/** Imports of datasets that are truncated, empty or invalid in some lines. */
import { describe, expect, setSystemTime, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { runCommandLine } from "../../src/commands/command-line.ts";
import { PublicUserLine } from "../../src/domain/model.ts";
import { applyChanges } from "../../src/import/apply.ts";
import { hideUsers } from "../../src/import/hide.ts";
import type { ImportOptions } from "../../src/import/import.ts";
import { buildSnapshot, importDataset } from "../../src/import/import.ts";
import { checkSnapshot } from "../../src/snapshot/format/open.ts";
import {
  bytesOf,
  exported,
  LONG_LIST,
  listBeside,
  longDataset,
  makeFile,
  makeSnapshot,
  stateOf,
  textOf,
  user,
} from "../datasets.ts";
import { achievement, company, role } from "../domain/invalid-lines.ts";
import { openInProcess, root, run as runProgram, temporaryFolder } from "../support.ts";

const night = { ...achievement, id: 7 };
const ann = user(1, "Ann");
const bea = user(2, "Bea");
const end = (lines: unknown) => ({ type: "end", lines });
const toText = (lines: (object | string)[]) =>
  lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
const stream = (bytes: string | Uint8Array) => new Blob([Buffer.from(bytes)]).stream();

const otherSnapshot = await makeSnapshot([user(9, "Zoe")]);

/** Imports into a new file, or into `target`, and returns the kept lines and the skipped errors. */
async function run(
  input: (object | string)[] | string | Uint8Array,
  options: ImportOptions = {},
  target = join(temporaryFolder(), "s"),
) {
  const bytes = Array.isArray(input) ? toText(input) : input;
  const imported = await importDataset(stream(bytes), target, options);
  const { skipped, madePrivate, counts, differences } = imported;
  await checkSnapshot(target);
  const lines = (await exported(target)).trim().split("\n").slice(0, -1);
  const kept = lines.map((line) => JSON.parse(line));
  const report = skipped.format();
  const saved = readFileSync(target);
  return { kept, skipped, madePrivate, counts, differences, report, bytes: saved };
}

test.each<[string, string | Uint8Array]>([
  ["a spreadsheet", Buffer.from("PK\x03\x04…")],
  ["a SQLite database", Buffer.from(`SQLite format 3\0${"\0".repeat(999)}`)],
  ["a snapshot", readFileSync(await makeSnapshot())],
  ["compressed with zstd", zstdCompressSync(textOf([ann]))],
  ["in UTF-16", Buffer.from(`\ufeff${textOf([ann])}`, "utf16le")],
  ["in UTF-16", Buffer.from(textOf([ann]), "utf16le")],
  ["a JSON array", `\ufeff\n[${JSON.stringify(ann)}]`],
  ["JSON over several lines", JSON.stringify(ann, null, 2)],
  ["a CSV file", '\ufeff"ID";name\n'],
  ["a CSV file", "Öffentlich-1\tID\n"],
])("input that is %s gets one sentence, also if it is compressed", async (kind, bytes) => {
  for (const input of [bytes, gzipSync(bytes)]) {
    const message = await run(input).catch((error: Error) => error.message);
    expect(message).toMatch(RegExp(`^the input is ${kind}; [^\\n]+$`));
  }
});

test.each<[string, (path: string) => void]>([
  ["a folder", (path) => mkdirSync(path)],
  ["a snapshot", (path) => copyFileSync(otherSnapshot, path)],
])("- is standard input, also where %s has this name", async (_, make) => {
  const cwd = temporaryFolder();
  make(join(cwd, "-"));
  const words = [join(root, "src/main.ts"), "import", "-", "--expect-end", "--to", "s"];
  const stdin = toText([ann, bea, end(2)]);
  const outcome = await runProgram([process.execPath, ...words], { cwd, stdin });
  expect(outcome).toMatchObject({ code: 0, stdout: expect.stringContaining("imported 2 users") });
});

describe.each([
  ["import", importDataset],
  ["apply", applyChanges],
])("in the input of %s, the end line", (_, write) => {
  const isMissing = "the end line is missing, so the dataset may be incomplete";
  const mustBe = (count: number, got: number) =>
    `lines: must be ${count} (the number of lines before this one), got ${got}`;
  const wrong: [string, (object | string)[], string, boolean][] = [
    ["is one too high", [role, ann, end(3)], `line 3: ${mustBe(2, 3)}`, false],
    ["is one too low", [role, ann, end(1)], `line 3: ${mustBe(2, 1)}`, false],
    ["is not the last", [role, end(1), ann], "line 3: comes after the end line (line 2)", false],
    ["has no number", [ann, end("1")], "line 2: lines: must be an integer from 0", false],
    ["is missing with --expect-end", [role, ann], isMissing, true],
  ];
  test.each(wrong)("is an error if it %s", async (_, lines, expected, expectEnd) => {
    const target = await makeSnapshot();
    const before = stateOf(target);
    const error = await write(stream(toText(lines)), target, { expectEnd }).catch((one) => one);
    expect([error.count, error.message]).toEqual([
      1,
      expect.stringMatching(RegExp(`^${RegExp.escape(expected)}`)),
    ]);
    expect(stateOf(target)).toEqual(before);
  });

  test.each([true, false])("is accepted if it is correct (--expect-end: %p)", async (expectEnd) => {
    const lines = ["", role, " \r", ann, end(2), "  "];
    await write(stream(toText(lines)), await makeSnapshot([role, ann]), { expectEnd });
  });
});

test("the end line may be among the objects in createRoadbook's dataset", async () => {
  const { fetch } = await openInProcess({ dataset: [ann, end(1)] });
  expect((await fetch("/users/public/1")).status).toBe(200);
  await expect(openInProcess({ dataset: [ann, end(2)] })).rejects.toThrow("lines: must be 1");
});

describe("an import that is empty or would change most of the snapshot is an error", () => {
  const list = <Item>(count: number, make: (id: number) => Item, from = 1) =>
    Array.from({ length: count }, (_, at) => make(from + at));
  const people = (count: number, from?: number) =>
    list(count, (id) => user(id, `User ${id}`), from);
  const companies = (count: number) => list(count, (id) => ({ ...company, id }));
  const members = [
    role,
    company,
    ...list(24, (id) => user(id, `User ${id}`, { company: { id: 1, role: "x" }, roles: [1] })),
  ];
  /** `count` of these users have lost the value of `field`. */
  const without = (field: string, count = 24, all = 24) => [
    role,
    company,
    ...list(all, (id) => ({
      ...user(id, `User ${id}`, { company: { id: 1, role: "x" }, roles: [1] }),
      ...(id <= count && { [field]: undefined }),
    })),
  ];
  const named = (count: number) =>
    list(24, (id) => user(id, id <= count ? "Driver" : `User ${id}`));
  /** The rows of people and then `more`, renumbered after the first of them has gone. */
  const renumbered = (count: number, more: object[] = []) => [
    ...list(count - 1, (id) => user(id, `User ${id + 1}`)),
    ...more,
  ];
  const hidden = (count: number, from = 900) =>
    list(count, (id) => ({ type: "user", id, public: false }), from);
  const unlocked = { id: 7, tier: 1, unlocked_at: "2024-03-09T17:05:00Z" };
  const owners = (count: number, from?: number) => [
    night,
    ...list(count, (id) => user(id, `User ${id}`, { achievements: [unlocked] }), from),
  ];
  const revealed = (shown: number, still: number) => [
    ...people(shown, 900),
    ...hidden(still, 900 + shown),
  ];

  test.each(["", textOf([role]), textOf([end(0)])])(
    "without users and companies, with and without a target: %j",
    async (dataset) => {
      const message = "the dataset has no users and no companies; nothing was written";
      const target = join(temporaryFolder(), "s");
      await expect(run(dataset, { allowShrink: true }, target)).rejects.toThrow(message);
      expect(listBeside(target)).toEqual([]);
      await run([ann], {}, target);
      const before = stateOf(target);
      await expect(run(dataset, {}, target)).rejects.toThrow(message);
      expect(stateOf(target)).toEqual(before);
    },
  );

  const shrink = "allow-shrink";
  const reveal = "allow-reveal";
  const rename = "allow-renames";
  const anew = "(as when rows are renumbered)";
  type Flag = typeof shrink | typeof reveal | typeof rename;
  test.each<
    [what: string, old: object[], next: object[], would: string | undefined, ...flags: Flag[]]
  >([
    ["half of the users", people(24), people(12), undefined],
    ["most users", people(24), people(11), "lose 13 of its 24 users", shrink],
    ["ten of ten users", people(10), people(1, 500), undefined],
    ["all users, but adds others", people(11), people(20, 500), "lose 11 of its 11 users", shrink],
    ["half of the companies", [ann, ...companies(24)], [ann, ...companies(12)], undefined],
    [
      "most companies",
      [ann, ...companies(24)],
      [ann, company],
      "lose 23 of its 24 companies",
      shrink,
    ],
    ["two of two private users", hidden(2), people(2, 900), undefined],
    ["all private users", hidden(4), people(4, 900), "publish 4 of its 4 private users", reveal],
    ["half of the private users", hidden(22), revealed(11, 11), undefined],
    [
      "most private users",
      hidden(21),
      revealed(11, 10),
      "publish 11 of its 21 private users",
      reveal,
    ],
    [
      "most private users, who are absent",
      [...people(20), ...hidden(11)],
      people(20),
      "publish or lose 11 of its 11 private users",
      reveal,
    ],
    ["half of the public users", people(24), [...people(12), ...hidden(12)], undefined],
    [
      "most public",
      people(24),
      [...people(11), ...hidden(13, 12)],
      "lose 13 of its 24 public users",
      shrink,
    ],
    ["half of the unlocks", owners(4), [...owners(2), ...people(2, 3)], undefined],
    [
      "most unlocked achievements",
      owners(4),
      [...owners(1), ...people(3, 2)],
      "lose 3 of its 4 unlocked achievements",
      shrink,
    ],
    ["ten users, with their achievements", owners(10), people(1, 11), undefined],
    ["one of two users", people(2), people(1), undefined],
    ["half of the avatars", people(24), without("avatar_url", 12), undefined],
    ["most avatars", people(24), without("avatar_url", 13), "lose 13 of its 24 avatars", shrink],
    ["ten of ten avatars", people(10), without("avatar_url", 10, 10), undefined],
    [
      "most companies of users",
      members,
      without("company"),
      "lose 24 of its 24 users' companies",
      shrink,
    ],
    ["most roles of users", members, without("roles"), "lose 24 of its 24 users' roles", shrink],
    [
      "most names",
      people(24),
      named(13),
      `rename 13 of its 24 users who stay public ${anew}`,
      rename,
      shrink,
    ],
    ["half of the names", people(24), named(12), undefined],
    ["two names", people(2), [user(1, "A"), user(2, "B")], undefined],
    ["half of the names of a few", people(6), [...renumbered(4), ...people(3, 4)], undefined],
    [
      "all names",
      people(4),
      renumbered(4),
      `rename 3 of its 3 users who stay public ${anew}`,
      rename,
    ],
    [
      "the names of all who stay public, which are no half of all",
      people(12),
      [...renumbered(7), ...hidden(6, 7)],
      `rename 6 of its 6 users who stay public ${anew}`,
      rename,
    ],
    [
      "numbers of private and public users",
      [...people(4), ...hidden(3, 5), ...people(4, 8)],
      [...renumbered(4), ...hidden(3, 4), ...list(4, (id) => user(id + 6, `User ${id + 7}`))],
      `rename 6 of its 6 users who stay public ${anew}`,
      rename,
    ],
  ])("%s", async (_, old, next, would, ...flags) => {
    const target = await makeSnapshot(old);
    const before = stateOf(target);
    if (would) {
      const cure = flags.includes(rename) ? "give each user an id that stays, or if" : "if";
      const advice = `nothing was written (${cure} this is intended, add --${flags[0]})`;
      await expect(run(next, {}, target)).rejects.toThrow(
        new Error(`${target} would ${would}; ${advice}`),
      );
      expect(stateOf(target)).toEqual(before);
    }
    const options = {
      allowShrink: flags.includes(shrink),
      allowReveal: flags.includes(reveal),
      allowRenames: flags.includes(rename),
    };
    await run(next, options, target);
    expect(await exported(target)).toBe(await exported(await makeSnapshot(next)));
  });

  test("one and the same name for most public users needs a flag besides that for new names", async () => {
    const target = await makeSnapshot(people(24));
    await expect(run(named(13), { allowRenames: true }, target)).rejects.toThrow(
      `${target} would give the same name to 13 of its 24 public users; nothing was written (if this is intended, add --allow-shrink)`,
    );
  });

  test("an import reports the differences from the snapshot that it replaces", async () => {
    const target = join(temporaryFolder(), "s");
    const old = [...owners(4), ...people(3, 10), ...hidden(2, 20)];
    expect((await run(old, {}, target)).differences).toBeUndefined();
    // Users 4, 10 and 11 go private, 12 and 21 are removed, 20 goes public, and 30 is new. User 2,
    // who has unlocked an achievement, is invalid and therefore goes private, too.
    const next = [...owners(3), user(2, ""), ...hidden(1, 4), ...hidden(2, 10)];
    next.push(...owners(1, 20).slice(1), ...people(1, 30));
    const options = { skipInvalid: true, allowShrink: true };
    expect((await run(next, options, target)).differences).toEqual({
      users: { added: 1, removed: 2, made_private: 4, made_public: 1 },
      unlocked_achievements: { before: 4, after: 3 },
      changed: { names: 0, avatars: 0, companies: 0, roles: 0 },
      lost: { avatars: 0, companies: 0, roles: 0 },
    });
  });

  test("an import reports whose name, avatar, company or roles have changed", async () => {
    const target = await makeSnapshot(members);
    const changed = [
      role,
      { ...role, id: 2 },
      company,
      { ...company, id: 2 },
      user(1, "Renamed", { avatar_url: "/new.png", company: { id: 2, role: "x" }, roles: [1, 2] }),
      user(2, "User 2", { avatar_url: null }),
      user(3, "User 3", { company: { id: 1, role: "Owner" }, roles: [1] }),
      ...members.slice(5),
    ];
    expect((await run(changed, {}, target)).differences).toMatchObject({
      changed: { names: 1, avatars: 2, companies: 3, roles: 2 },
      lost: { avatars: 1, companies: 1, roles: 1 },
    });
  });

  test("a damaged target, or one of a newer version, is replaced only with --force", async () => {
    const target = await makeSnapshot(people(30));
    await hideUsers([1], target);
    const intact = readFileSync(target);
    const newer = Buffer.from(intact);
    newer.writeUInt32BE(99, 60); // user_version
    const flipped = Buffer.from(intact);
    flipped[intact.length - 200] = 255 - (intact[intact.length - 200] ?? 0);
    for (const [bytes, problem] of [
      [newer, "has schema 99, but this Roadbook reads schema"],
      [intact.subarray(0, intact.length / 2), "is damaged: it has "],
      [flipped, "is damaged: its checksum does not match"],
    ] as const) {
      writeFileSync(target, bytes);
      const before = stateOf(target);
      const error = await run(people(30), {}, target).catch(String);
      expect(error).toStartWith(`Error: ${target} ${problem}`);
      expect(error).toEndWith("restore it, or import with --force, which forgets its takedowns");
      expect(stateOf(target)).toEqual(before);
    }
    const forced = await run(people(1), { force: true }, target);
    expect(forced).toMatchObject({ counts: { public_users: 1 }, differences: undefined });
  });
});

test("an error in a snapshot has the id of the record, whatever the path ends in", async () => {
  const path = join(temporaryFolder(), "made from id 42");
  copyFileSync(await makeSnapshot([user(42, "&#8203;")]), path);
  const importing = importDataset(path, join(temporaryFolder(), "s"), { decodeHtml: true });
  await expect(importing).rejects.toThrow(/ id 42: name: must be .* \(user 42\)$/);
});

test("the library refuses a URL where nothing can be, without repeating it", async () => {
  const importing = importDataset("postgres://u:sesame@h/d", join(temporaryFolder(), "snapshot"));
  const reason = "the source is a database; import it with a folder of SELECTs (--queries FOLDER)";
  await expect(importing).rejects.toThrow(new RangeError(reason));
  const building = buildSnapshot("postgres://u:sesame@h/d");
  await expect(building).rejects.toThrow(new RangeError(reason));
});

describe("--skip-invalid", () => {
  const skip = (lines: (object | string)[], options: ImportOptions = {}, target?: string) =>
    run(lines, { skipInvalid: true, ...options }, target);

  test("skips invalid lines and references to them, and reports both", async () => {
    const unlock = { id: 7, tier: 1, unlocked_at: "2024-01-01T00:00:00Z" };
    const seven = unlock;
    const eight = { ...unlock, id: 8 };
    const { report, kept, skipped, madePrivate } = await skip([
      { ...role, name: "" },
      { ...role, id: 2 },
      { ...night, points: -1 },
      { ...night, id: 8 },
      user(4, ""),
      user(5, "Eve", {
        company: { id: 1, role: "Owner" },
        roles: [1, 2],
        achievements: [seven, eight],
      }),
      { ...company, member_count: "many" },
      user(6, "Zoe", { created_at: "yesterday" }),
      user(7, "Max", {
        avatar_url: "",
        roles: [2, null],
        achievements: [eight, { ...unlock, id: "8" }],
      }),
      end(9),
    ]);
    expect([skipped.count, madePrivate]).toEqual([11, 2]);
    expect(
      report,
    ).toBe(`line 1: name: must be a non-blank string of 1 to 200 code points, got "" (role 1)
line 5: name: must be a non-blank string of 1 to 200 code points, got ""; the user becomes private (user 4)
line 3: points: must be an integer from 0 to 9007199254740991, got -1 (achievement 7)
line 6: company.id: there is no company 1 (user 5)
line 6: roles: there is no role 1 (user 5)
line 6: achievements: there is no achievement 7 (user 5)
line 7: member_count: must be an integer from 0 to 9007199254740991, got "many" (company 1)
line 8: created_at: must be an RFC 3339 time on a real date, with Z or an offset, such as 2024-03-09T17:05:00Z, got "yesterday"; the user becomes private (user 6)
line 9: avatar_url: must be ${PublicUserLine.properties.avatar_url.description}, got ""; the rest of the user is kept (user 7)
line 9: roles[1]: must be an integer from 1 to 9007199254740991, got null; the rest of the user is kept (user 7)
line 9: achievements[1].id: must be an integer from 1 to 9007199254740991, got "8"; the rest of the user is kept (user 7)`);
    expect(kept).toEqual([
      { ...role, id: 2 },
      { ...night, id: 8 },
      { type: "user", id: 4, public: false },
      user(5, "Eve", { company: null, roles: [2], achievements: [eight] }),
      { type: "user", id: 6, public: false },
      user(7, "Max", { avatar_url: null, company: null, roles: [2], achievements: [eight] }),
    ]);
  });

  test("keeps a role or achievement that is listed twice once, and keeps the order", async () => {
    const unlock = { id: 7, tier: 1, unlocked_at: "2024-01-02T00:00:00Z" };
    const older = { id: 5, tier: 2, unlocked_at: "2024-01-01T00:00:00Z" };
    const gone = { ...unlock, id: 9 };
    const more = { roles: [1, 3, 1], achievements: [older, unlock, unlock, gone] };
    const { kept, skipped, madePrivate } = await skip([
      role,
      night,
      { ...night, id: 5 },
      { ...ann, ...more },
    ]);
    expect(kept.at(-1)).toMatchObject({ roles: [1], achievements: [older, unlock] });
    expect([skipped.count, madePrivate]).toEqual([4, 0]);
  });

  test("keeps the first of two lines with the same id, unless it is a user's", async () => {
    const lines = [role, company];
    const twice = lines.flatMap((line) => [line, { ...line, name: "Other" }]);
    // An invalid company makes no user with its id private.
    const { kept } = await skip([...twice, ann, { ...company, id: ann.id, name: "" }]);
    expect(kept).toEqual([role, company, expect.objectContaining({ name: "Ann" })]);
  });

  test("says nothing about the references of a user who becomes private", async () => {
    const strays = { company: { id: 99, role: "Owner" }, roles: [98] };
    const { report } = await skip([bea, user(1, "Evelyn", strays), hidden]);
    expect(report).toStartWith("line 3: id: duplicate user id 1");
    expect(report).not.toMatch(/99|98/);
  });

  const hidden = { type: "user", id: 1, public: false };
  const eve = user(1, "Evelyn", { achievements: [], roles: [1] });
  test.each<[string, object[]]>([
    ["a private line, then a public one", [hidden, eve]],
    ["a public line, then a private one", [eve, hidden]],
    ["a private line with an unknown field", [eve, { ...hidden, nick: "E" }]],
    ["a line without the field public", [eve, { type: "user", id: 1 }]],
    ["a line in which public is a string", [eve, { ...hidden, public: "no" }]],
    ["an invalid line that says public", [eve, { ...user(1, "Evelyn"), nick: "E" }]],
    ["a public line with a wrong avatar", [eve, user(1, "Evelyn", { avatar_url: "" })]],
    ["a wrong avatar, then another line", [user(1, "Evelyn", { avatar_url: "" }), eve]],
    ["a deletion", [eve, { type: "user", id: 1, deleted: true }]],
    ["an invalid line alone", [user(1, "")]],
  ])("%s makes the user private", async (_, lines) => {
    const { report, kept, bytes } = await skip([role, bea, ...lines]);
    expect(report).toMatch(/^(?:line \d|id): /);
    expect(kept).toEqual([role, hidden, expect.objectContaining(bea)]);
    expect(bytes.toString("latin1").toLowerCase()).not.toContain("evelyn");
  });

  describe("a user with several records becomes private", () => {
    const unlock = { id: 7, tier: 1, unlocked_at: "2024-01-01T00:00:00Z" };
    const long = longDataset(1).filter((line) => "points" in line);
    const more = { ...long[0], id: LONG_LIST + 1 };
    const all = Array.from({ length: LONG_LIST + 1 }, (_, at) => ({ ...unlock, id: at + 1 }));
    const known = [role, company, ...long, more, bea];
    const orders = ["first", "second", "third"] as const;
    type Order = (typeof orders)[number];
    const arrange = <Item>(odd: Item, valid: Item, order: Order) => {
      const items = orders.map((other) => (other === order ? odd : valid));
      return order === "third" ? items : items.slice(0, 2);
    };

    const faults: Record<string, object> = {
      "is private": { public: false },
      "has no field public": { public: undefined },
      "says something else in the field public": { public: "yes" },
      "is a deletion": { deleted: true },
      "has an empty name": { name: "" },
      "has no time": { created_at: undefined },
      "has a wrong time": { created_at: "yesterday" },
      "has an unknown field": { nick: "E" },
      "has a wrong avatar": { avatar_url: "none" },
      "has a company without a role": { company: { id: 1 } },
      "refers to no company": { company: { id: 99, role: "Owner" } },
      "has a role that is no id": { roles: ["driver"] },
      "has a role twice": { roles: [1, 1] },
      "has too many roles": { roles: Array.from({ length: 101 }, (_, at) => at + 1) },
      "refers to no role": { roles: [1, 99] },
      "has an achievement without a time": { achievements: [{ id: 7, tier: 1 }] },
      "has an achievement twice": { achievements: [unlock, unlock] },
      "refers to no achievement": { achievements: [{ ...unlock, id: 99 }] },
      "has achievements that are too long": { achievements: all },
    };
    const valid = user(1, "Evelyn", { roles: [1], achievements: [unlock] });
    const secret = { type: "user", id: 1, public: false };

    test.each(
      Object.entries(faults).flatMap(([what, fault]) =>
        orders.map((order) => [order, what, fault] as const),
      ),
    )("also if the %s line %s", async (order, _, fault) => {
      const lines = arrange({ ...valid, ...fault }, valid, order);
      for (const input of [
        [...known, ...lines],
        [...lines, ...known],
      ]) {
        const { kept, bytes, madePrivate, report } = await skip(input);
        expect(kept.find(({ type, id }) => type === "user" && id === 1)).toEqual(secret);
        expect(bytes.toString("latin1")).not.toContain("Evelyn");
        expect([madePrivate, report]).toEqual([
          order === "first" && "public" in fault && fault.public === false ? 0 : 1,
          expect.stringContaining("the user becomes private"),
        ]);
      }
    });

    test("also if all lines are valid", async () => {
      const { kept, bytes, madePrivate, report } = await skip([...known, valid, valid]);
      expect(kept).toContainEqual(secret);
      expect(bytes.toString("latin1")).not.toContain("Evelyn");
      const reason = "id: duplicate user id 1; the user becomes private";
      expect([madePrivate, report]).toEqual([1, `line ${known.length + 2}: ${reason}`]);
    });

    /** The rows of a table for user 1, beside those of all tests. */
    const runTables = async (rows: Partial<Record<string, readonly string[]>>) => {
      const folder = temporaryFolder();
      const tables: Record<string, string[]> = {
        users: ["id,public,name,created_at,avatar_url,company_id", "2,1,Bea,2024-01-01,,"],
        companies: ["id,name", "1,Acme"],
        roles: ["id,name,hierarchy", "1,Driver,1"],
        achievements: ["id,name,description,icon,kind,tier,points", "7,Owl,d,i,k,1,1"],
        user_roles: ["user_id,role_id", "1,1", "1,1"],
        user_achievements: [
          "user_id,achievement_id,tier,unlocked_at",
          "1,7,1,2024-01-01",
          "1,7,2,2024-01-01",
        ],
      };
      for (const [name, lines] of Object.entries(tables)) {
        const text = [...lines, ...(rows[name] ?? [])].map((line) => `${line}\n`).join("");
        writeFileSync(join(folder, `${name}.csv`), text);
      }
      const target = join(folder, "s");
      const imported = await importDataset(folder, target, { skipInvalid: true });
      return { ...imported, text: await exported(target) };
    };
    const row = "1,1,Evelyn,2024-01-01,,1";
    const oddRows: Record<string, string> = {
      "is private": "1,0,Evelyn,2024-01-01,,1",
      "has an empty public": "1,,Evelyn,2024-01-01,,1",
      "has no name": "1,1,,2024-01-01,,1",
      "has a wrong time": "1,1,Evelyn,yesterday,,1",
      "has a wrong avatar": "1,1,Evelyn,2024-01-01,none,1",
      "has a company that is no id": "1,1,Evelyn,2024-01-01,,x",
      "refers to no company": "1,1,Evelyn,2024-01-01,,99",
    };
    const expectHidden = (
      { madePrivate, text }: Awaited<ReturnType<typeof runTables>>,
      hidden = 1,
    ) => {
      expect(text).toContain(JSON.stringify(secret));
      expect(text).not.toContain("Evelyn");
      expect(madePrivate).toBe(hidden);
    };
    test.each(
      Object.entries(oddRows).flatMap(([what, odd]) =>
        orders.map((order) => [order, what, odd] as const),
      ),
    )("also if the %s row %s", async (order, what, odd) => {
      const isPrivate = order === "first" && what === "is private";
      expectHidden(await runTables({ users: arrange(odd, row, order) }), isPrivate ? 0 : 1);
    });

    test.each([
      ["user_roles", "1,99"],
      ["user_roles", "1,x"],
      ["user_roles", "1,"],
      ["user_achievements", "1,99,1,2024-01-01"],
      ["user_achievements", "1,,1,2024-01-01"],
      ["user_achievements", "1,7,1,yesterday"],
      ["user_achievements", "1,7,,2024-01-01"],
    ])("also if a row of %s is %s", async (table, odd) => {
      expectHidden(await runTables({ users: [row, row], [table]: [odd] }));
      // A user with one row keeps the rest.
      const { text } = await runTables({ users: [row], [table]: [odd] });
      expect(text).toContain("Evelyn");
    });

    test("also if all rows are valid", async () => {
      const imported = await runTables({ users: [row, row] });
      expectHidden(imported);
      expect(imported.skipped.count).toBe(1);
    });
  });

  test("is an error if most users are invalid, also in a first import", async () => {
    const lines = (invalid: number) =>
      Array.from({ length: 24 }, (_, at) => user(at + 1, at < invalid ? "" : "Ann"));
    const target = join(temporaryFolder(), "s");
    await expect(skip(lines(13), {}, target)).rejects.toThrow(
      "13 of 24 users are invalid, so they would become private or be left out; nothing was written (if",
    );
    expect(listBeside(target)).toEqual([]);
    expect((await skip(lines(12), {}, target)).madePrivate).toBe(12);
    await skip(lines(10).slice(0, 11));
    expect((await skip(lines(13), { allowShrink: true })).madePrivate).toBe(13);
  });

  test("is an error if most rows of users have no valid id", async () => {
    const folder = temporaryFolder();
    const rows = Array.from({ length: 20 }, (_, at) => `${at < 11 ? "x" : at},1,Ann,2024-01-01`);
    writeFileSync(join(folder, "users.csv"), `id,public,name,created_at\n${rows.join("\n")}`);
    const importing = importDataset(folder, join(folder, "s"), { skipInvalid: true });
    await expect(importing).rejects.toThrow("11 of 20 users are invalid");
  });

  const bytes = Buffer.from(textOf([role, bea, ann]));
  const garbled = Buffer.concat([bytes, Buffer.from("\xff\n", "latin1")]);
  const second = (line: object | string) => toText([bea, line]);
  test.each<[string, string | Uint8Array, RegExp, ImportOptions?]>([
    ["broken JSON", second('{"type":"user","id":1,"public":false,"name":"E"E"}'), /^line 2: /],
    ["an array", second([hidden]), /^line 2: /],
    ["an unknown type", second({ ...hidden, type: "User" }), /^line 2: /],
    ["a missing id", second({ type: "user", public: false }), /^line 2: /],
    ["an id of 0", second({ ...hidden, id: 0 }), /^line 2: /],
    ["an id of 2^53", second({ ...hidden, id: 2 ** 53 }), /^line 2: /],
    ["more than 1 MiB", second({ ...hidden, name: "x".repeat(2 ** 20) }), /^line 2: /],
    ["truncated gzip", gzipSync(bytes).subarray(0, 60), /gzip data is damaged or ends/],
    ["bytes that are not UTF-8", garbled, /UTF-8/],
    ["an unfinished last line", bytes.subarray(0, -20), /^line 3: must be a valid JSON object$/],
    ["a wrong end line", textOf([bea, user(3, ""), end(9)]), /lines: must be 2 .* got 9/],
    ["a line after the end line", textOf([bea, end(1), ann]), /line 3: comes after the end line/],
    ["no valid user or company", textOf([{ ...company, name: "" }]), /no users and no companies/],
    ["no end line", textOf([bea, user(3, "")]), /end line is missing/, { expectEnd: true }],
  ])("%s is still an error", async (_, dataset, expected, options) => {
    const target = join(temporaryFolder(), "s");
    await expect(run(dataset, { skipInvalid: true, ...options }, target)).rejects.toThrow(expected);
    expect(listBeside(target)).toEqual([]);
  });
});

describe("a user without an avatar", () => {
  const lines = [
    ann,
    ...[null, undefined].map((avatar_url, at) => ({ ...ann, id: at + 2, avatar_url })),
  ];

  test.each([
    [undefined, "http://roadbook.test"],
    ["https://api.example/drivers/", "https://api.example/drivers"],
  ])(
    "has a generated one, whose path is completed like any other (%p)",
    async (publicUrl, base) => {
      const { fetch } = await openInProcess({ dataset: lines, publicUrl });
      const bodyOf = async (path: string) => (await fetch(path)).json();
      const { users } = await bodyOf("/search/users?q=ann");
      const avatars = [ann.avatar_url, `${base}/avatars/2.svg`, `${base}/avatars/3.svg`];
      expect(users.map((one: { avatar_url: string }) => one.avatar_url)).toEqual(avatars);
      for (const [at, avatar_url] of avatars.entries()) {
        expect(await bodyOf(`/users/public/${at + 1}`)).toMatchObject({ user: { avatar_url } });
      }
    },
  );

  test("is exported without an avatar, even after a change", async () => {
    const target = await makeSnapshot(lines);
    await applyChanges(bytesOf([{ ...ann, avatar_url: undefined }]), target);
    expect((await exported(target)).match(/"avatar_url":null/g)).toHaveLength(3);
  });
});

describe("a file of another kind is overwritten only with --force", () => {
  const contents: [string, () => Promise<string | Uint8Array>, string[]][] = [
    ["another program's database", async () => foreign(), []],
    ["a snapshot", async () => readFileSync(await makeSnapshot()), ["import"]],
    ["a dataset", async () => textOf([role, ann]), ["export", "seed"]],
    [
      "a dataset, written with spaces",
      async () => '{ "id": 1, "type": "user" }',
      ["export", "seed"],
    ],
    ["an export without a record", async () => '{"type":"end","lines":0}', ["export", "seed"]],
    ["other JSON", async () => '{"type":"FeatureCollection","features":[]}', []],
    ["a dataset, compressed", async () => gzipSync(textOf([role, ann])), []],
    ["a text", async () => "Dear diary,\n", []],
    ["an empty file", async () => "", ["export", "seed"]],
    ["a blank file", async () => "  ", ["export", "seed"]],
  ];
  const foreign = () => Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(4080)]);

  test.each(contents)("%s", async (_, make, overwritten) => {
    const target = join(temporaryFolder(), "target");
    const snapshot = await makeSnapshot();
    const commands: Record<string, (force: boolean) => Promise<unknown>> = {
      import: (force) => importDataset([ann], target, { force, allowShrink: true }),
      export: (force) => runCommandLine(["export", snapshot, "--to", target, ...flag(force)]),
      seed: (force) => runCommandLine(["seed", "--users", "3", "--to", target, ...flag(force)]),
    };
    const flag = (force: boolean) => (force ? ["--force"] : []);
    for (const [command, write] of Object.entries(commands)) {
      writeFileSync(target, await make());
      const before = stateOf(target);
      if (!overwritten.includes(command)) {
        await expect(write(false)).rejects.toThrow(/target exists and is not .*with --force$/);
        expect(stateOf(target)).toEqual(before);
      }
      await write(!overwritten.includes(command));
      expect(readFileSync(target, "latin1")).toStartWith(command === "import" ? "SQLite" : "{");
    }
  });
});

test("a dry run reports what an import would, and writes nothing", async () => {
  const target = join(temporaryFolder(), "s");
  const dryRun = (lines: object[]) => importDataset(lines, target, { dryRun: true });
  expect((await dryRun([role, ann])).counts).toMatchObject({ users: 1, roles: 1 });
  expect(existsSync(target)).toBe(false);
  const people = Array.from({ length: 12 }, (_, at) => user(at + 1, "Ann"));
  await importDataset(people, target);
  const before = stateOf(target);
  await dryRun(people.slice(6));
  await expect(dryRun([ann])).rejects.toThrow("11 of its 12 users");
  await expect(dryRun([{ ...ann, name: "" }])).rejects.toThrow("line 1: name: must be");
  await expect(importDataset([ann], makeFile([ann]), { dryRun: true })).rejects.toThrow("--force");
  expect(stateOf(target)).toEqual(before);
});

test("an import is dated by its start, however long reading takes", async () => {
  const target = join(temporaryFolder(), "s");
  async function* slowly() {
    yield Buffer.from(toText([ann]));
    setSystemTime(Date.UTC(2026, 0, 1, 5));
    yield Buffer.from(toText([bea]));
  }

  setSystemTime(Date.UTC(2026, 0, 1));
  await importDataset(slowly(), target).finally(() => setSystemTime());
  expect((await checkSnapshot(target)).built_at).toBe("2026-01-01T00:00:00Z");
});
