/**
 * A private profile leaves no trace in a snapshot's tables or elsewhere in the file's bytes. The
 * comment in src/snapshot/format/seal.ts lists what clears them.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seedDataset } from "../../src/community/community.ts";
import { applyChanges, changeSnapshot } from "../../src/import/apply.ts";
import { buildSnapshot, importDataset } from "../../src/import/import.ts";
import { fold, SPELLING_END, spell } from "../../src/search/fold.ts";
import { ngramsOf } from "../../src/search/ngrams.ts";
import { SEPARATOR } from "../../src/search/terms.ts";
import { parseHeader } from "../../src/snapshot/format/layout.ts";
import { clearUnused } from "../../src/snapshot/format/seal.ts";
import { bytesOf, community, makeSnapshot, user } from "../datasets.ts";
import { openInProcess, temporaryFolder } from "../support.ts";

/** A user whose texts share no two consecutive letters with the texts of any other user. */
const secret = user(77, "Ǯöλξ 🛸 Ŵÿжфщ Øꝁꝥ", {
  avatar_url: "https://qzqxq.invalid/xqqzzx-77.jpeg",
  company: { id: 0x5a5b5c5d, role: "Ɓöʂƨ Ʊƛǂ" },
  roles: [1],
  achievements: [{ id: 7, tier: 3, unlocked_at: "2033-03-03T03:03:03Z" }],
});
const hide = (lines: { id: number }[]) =>
  bytesOf(lines.map(({ id }) => ({ type: "user", id, public: false })));

/**
 * Returns each sequence of four code points in every word, as written and in every spelling. FTS5 may
 * keep three.
 */
function piecesOf(...texts: string[]): string[] {
  const pieces = new Set<string>();
  for (const text of texts.flatMap((text) => [text, ...spell(text).split(SPELLING_END)])) {
    for (const word of text.split(" ")) {
      const points = [...word];
      for (let at = 0; at + 4 <= points.length; at++) pieces.add(points.slice(at, at + 4).join(""));
    }
  }
  return [...pieces];
}

const pieces = piecesOf("Ǯöλξ Ŵÿжфщ Øꝁꝥ", "Ɓöʂƨ Ʊƛǂ", "xqqzzx", "qzqxq");
// A word of one character. It takes four bytes, too many to occur by chance.
pieces.push("🛸");
// The index of users by company has the company's id and then the user's, both big-endian.
pieces.push("Z[\\]M");
const employer = { type: "company" as const, id: 0x5a5b5c5d, name: "Nord", member_count: 1 };

function found(path: string, texts = pieces): string[] {
  const bytes = readFileSync(path);
  return texts.filter((text) => bytes.includes(text));
}

/** Finds traces of private users in a snapshot's tables and in the index. */
function findTraces(path: string): unknown {
  const db = new Database(path, { readonly: true });
  const profiles = db.query("SELECT id FROM user JOIN private_user USING (id)").all();
  db.run("CREATE VIRTUAL TABLE temp.listed USING fts5vocab(main, user_ngram, instance)");
  const idsOf = (sql: string) => {
    const rows = db.query<{ id: number }, []>(sql).all();
    return new Set(rows.map(({ id }) => id));
  };
  const listed = idsOf("SELECT DISTINCT doc & 0x1fffffffffffff AS id FROM listed");
  const users = idsOf("SELECT id FROM user");
  db.close();
  const strays = [...listed.difference(users)];
  const unlisted = [...users.difference(listed)];
  return { profiles, strays, unlisted };
}

const noTraces = { profiles: [], strays: [], unlisted: [] };

const deleted = () => bytesOf([{ type: "user", id: 77, deleted: true }]);

test("no trace of a profile is left after the user is hidden, deleted, or imported as private", async () => {
  for (const changes of [() => hide([secret]), deleted]) {
    const path = await makeSnapshot([...community, employer, secret]);
    expect(found(path).length).toBeGreaterThan(15);
    await applyChanges(changes(), path, { allowShrink: true });
    expect(found(path)).toEqual([]);
    expect(findTraces(path)).toEqual(noTraces);
  }
  const path = await makeSnapshot([...community, employer, { ...secret, public: false }]);
  expect(found(path)).toEqual([]);
  expect(findTraces(path)).toEqual(noTraces);
});

test("no trace of a hidden or deleted user is left in the bytes of a snapshot in memory", async () => {
  const path = join(temporaryFolder(), "bytes");
  const others = Array.from({ length: 400 }, (_, at) => user(1000 + at, `${at * 7919}`));
  for (const changes of [hide([secret]), deleted()]) {
    const bytes = await buildSnapshot([...others, ...community, employer, secret]);
    writeFileSync(path, bytes);
    expect(found(path).length).toBeGreaterThan(15);
    writeFileSync(path, await changeSnapshot(bytes, changes));
    expect(found(path)).toEqual([]);
    expect(findTraces(path)).toEqual(noTraces);
  }
});

test("no key and no compact form of a hidden name is left, and none finds it", async () => {
  const names = ["Гжегож_Щукин", "Ζγούρος.Ξυνός", "Ոսկան-Ճշգրիտ", "흥글릴", "歐陽雪錚"];
  const typed = [
    "gzhegozhshchukin",
    "zgouros xynos",
    "voskanchshgrit",
    "heunggeullil",
    "ouyangxue",
  ];
  const secrets = names.map((name, at) => user(900 + at, name));
  const path = await makeSnapshot([...community, ...secrets]);
  const ngrams = names.flatMap((name) => ngramsOf({ folded: spell(name), name }).split(SEPARATOR));
  const loose = new Set(ngrams.filter((ngram) => /^[\u0096-\u0099]/.test(ngram)));
  const listed = () => {
    const db = new Database(path, { readonly: true });
    db.run("CREATE VIRTUAL TABLE temp.listed USING fts5vocab(main, user_ngram, row)");
    const terms = db.query<{ term: string }, []>("SELECT term FROM listed").all();
    db.close();
    return terms.map(({ term }) => term).filter((term) => loose.has(term));
  };
  const search = async () => {
    const target = await openInProcess({ snapshot: path });
    const bodies = typed.map(async (q) => {
      const response = await target.fetch(`/search/users?q=${q}`);
      return (await response.json()) as { users: { id: number }[] };
    });
    const ids = (await Promise.all(bodies)).map(({ users }) => users.map(({ id }) => id));
    await target.close();
    return ids;
  };
  expect(await search()).toEqual(secrets.map(({ id }) => [id]));
  expect(listed()).toHaveLength(loose.size);
  await applyChanges(hide(secrets), path, { allowShrink: true });
  expect(await search()).toEqual(secrets.map(() => []));
  expect(listed()).toEqual([]);
  expect(findTraces(path)).toEqual(noTraces);
});

test("the pages of a snapshot have nothing in the space that they do not use", async () => {
  // So many users that the database, although it has just been vacuumed, has an unused number.
  const dataset = [...seedDataset({ users: 2000, companies: 20, seed: 3 })];
  const path = await makeSnapshot(dataset);
  const imported = readFileSync(path);
  await applyChanges(hide([{ id: 100 }]), path);
  const built = await buildSnapshot(dataset);
  const changed = await changeSnapshot(built, hide([{ id: 100 }]));
  for (const bytes of [imported, readFileSync(path), built, changed]) {
    const database = bytes.subarray(0, parseHeader(bytes).databaseBytes);
    expect(clearUnused(Buffer.from(database), true)).toBe(false);
  }
});

test("the time of a takedown is in the file for an hour", async () => {
  const takedownMs = Date.UTC(2026, 0, 1, 1, 2, 3, 456);
  const stored = Buffer.alloc(6);
  stored.writeUIntBE(takedownMs, 0, 6);
  for (const write of [applyChanges, importDataset]) {
    const path = await makeSnapshot();
    const others = community.filter(({ id }) => id !== 42 && id !== 43);
    await applyChanges(hide([{ id: 42 }]), path, { builtAtMs: takedownMs });
    await write(bytesOf(others), path, { builtAtMs: takedownMs + 3_599_999 });
    const rows = new Database(path, { readonly: true }).query("SELECT * FROM takedown").all();
    expect(rows).toEqual([{ id: 42, at: takedownMs }]);
    expect(readFileSync(path).includes(stored)).toBe(true);
    await write(bytesOf(others), path, { builtAtMs: takedownMs + 3_600_000 });
    expect(readFileSync(path).includes(stored)).toBe(false);
  }
});

test("making users private leaves no trace, even after an import in the worst order", async () => {
  // Shuffled lines make SQLite split pages and leave copies of rows behind, and make FTS5 merge and
  // free pages.
  const lines = [...seedDataset({ users: 12_000, companies: 300, seed: 3 })];
  const shuffled = lines.map((line, index) => ({ line, key: (index * 7919) % lines.length }));
  shuffled.sort((a, b) => a.key - b.key);
  const marks = Array.from(
    { length: 120 },
    (_, at) => `ꙮ${String.fromCharCode(0x16a0 + (at % 60), 0x1f00 + at)}ꙮ`,
  );
  const secrets = marks.map((mark, at) =>
    user(500 * at + 251, `${mark} Somebody`, { avatar_url: `/${mark}.png` }),
  );
  const ids = new Set(secrets.map(({ id }) => id));
  const others = shuffled.filter(({ line }) => line.type !== "user" || !ids.has(line.id));
  const path = await makeSnapshot([...secrets, ...others.map(({ line }) => line)]);
  // Makes most of these users private with one change file, and the others one by one.
  await applyChanges(hide(secrets.slice(0, 100)), path);
  for (const one of secrets.slice(100)) await applyChanges(hide([one]), path);
  expect(
    found(
      path,
      marks.flatMap((mark) => [mark, fold(mark)]),
    ),
  ).toEqual([]);
  expect(findTraces(path)).toEqual(noTraces);
});

test.each([300, 50])(
  "names that come and go with %i users at a time leave no name behind",
  async (step) => {
    // Enough names, in a script of their own, that their n-grams begin pages of the index.
    const path = await makeSnapshot(seedDataset({ users: 3000, companies: 0, seed: 3 }));
    const letter = (at: number) => String.fromCodePoint(0x12000 + (at % 900));
    const named = Array.from({ length: 1500 }, (_, at) =>
      user(2 * at + 1, `${letter(at * 31)}${letter(at * 7)}${letter(at)} ${1000 + at}`),
    );
    const namesOf = (users: { name: string }[]) => users.map(({ name }) => name);
    for (let at = 0; at < named.length; at += step) {
      await applyChanges(bytesOf(named.slice(at, at + step)), path);
    }
    const names = namesOf(named);
    expect(found(path, names)).toEqual(names);
    for (let at = 0; at < named.length; at += step) {
      await applyChanges(hide(named.slice(at, at + step)), path, { allowShrink: true });
      expect(found(path, names)).toEqual(namesOf(named.slice(at + step)));
    }
    expect(findTraces(path)).toEqual(noTraces);
  },
);

test("a name that many users have leaves no trace after all of them go private", async () => {
  const others = seedDataset({ users: 3000, companies: 0, seed: 3 });
  const many = Array.from({ length: 400 }, (_, index) => user(1_000_000 + index, `Ǯöλξ ${index}`));
  const path = await makeSnapshot([...others, ...many]);
  expect(found(path, [fold("Ǯöλξ")])).toHaveLength(1);
  for (const part of [many.slice(0, 60), many.slice(60, 300), many.slice(300)]) {
    await applyChanges(hide(part), path);
  }
  expect(found(path, piecesOf("Ǯöλξ"))).toEqual([]);
});
