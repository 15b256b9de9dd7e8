/**
 * Indexes names, and declares sets of names with long texts in common, which a naive search would
 * all compare with a query.
 */
import { type NameKind, nameKinds } from "../../src/domain/model.ts";
import { NameSearch } from "../../src/search/find.ts";
import { normalizeQuery, spell } from "../../src/search/fold.ts";
import { buildNameIndex, listEntries } from "../../src/search/name-index.ts";
import { SLICE } from "../../src/search/ngrams.ts";
import { createSchema } from "../../src/snapshot/format/schema.ts";
import { sqlite } from "../../src/sqlite/bun.ts";
import type { Sqlite } from "../../src/sqlite/driver.ts";
import { finish } from "../support.ts";

export interface SimilarNames {
  kind: NameKind;
  count: number;
  name(at: number): string;
  queries: string[];
  /** Queries that are compared with all names: each has their n-grams, in another order. */
  worst?: string[];
}

/** Scattered, so that the order of companies does not follow their ids. */
export const membersOf = (index: number) => (index * 7919) % 600;

/** Adds `count` users or companies with the ids 1, 2, 3 and so on. */
export function fillNames(
  client: Sqlite,
  { kind, name }: Pick<SimilarNames, "kind" | "name">,
  count: number,
): void {
  const addUser = client.prepare(
    `INSERT INTO user (id, name, folded, roles, created_at, achievements)
      VALUES (?, ?, ?, '[]', 0, '[]')`,
  );
  const addCompany = client.prepare(
    "INSERT INTO company (id, name, folded, member_count) VALUES (?, ?, ?, ?)",
  );
  for (let at = 0; at < count; at++) {
    const id = at + 1;
    const text = name(at);
    if (kind === "user") addUser.run(id, text, spell(text));
    else addCompany.run(id, text, spell(text), membersOf(at));
  }
}

export function openSearch(client: Sqlite, kind: NameKind = "user") {
  const search = new NameSearch(client, kind);
  return (query: string) => finish(search.find(normalizeQuery(query)));
}

/** With `sliceNames`, a search can also pause after as many names, instead of the thousands of an import. */
export function openNames(names: string[], kind: NameKind = "user", sliceNames?: number) {
  const client = sqlite.openMemory().$client;
  createSchema(client);
  fillNames(client, { kind, name: (at) => names[at] ?? "" }, names.length);
  for (const each of nameKinds) for (const _ of buildNameIndex(client, each));
  if (sliceNames !== undefined) addSlices(client, kind, sliceNames);
  return { client, find: openSearch(client, kind), close: () => client.close() };
}

/** The first name begins a slice already. */
function addSlices(client: Sqlite, kind: NameKind, sliceNames: number): void {
  const rowIds = `SELECT (high << 53) | low AS row FROM (${listEntries[kind]}) ORDER BY 1`;
  const numbered = `SELECT row, row_number() OVER () - 1 AS at FROM (${rowIds})`;
  client.exec(`INSERT INTO ${kind}_ngram (rowid, ngrams)
    SELECT row, '${SLICE}' FROM (${numbered}) WHERE at > 0 AND at % ${sliceNames} = 0`);
}

const number = (at: number) => String(at).padStart(6, "0");

const letters = (at: number) => String.fromCharCode(97 + (at % 26));

/** All 121 pairs of the first eleven letters, joined into one string. */
const pairs = Array.from({ length: 121 }, (_, at) => letters(at % 11) + letters(at / 11)).join("");

export const similarNames: Record<string, SimilarNames> = {
  "default names": {
    kind: "user",
    count: 150_000,
    name: (at) => `New Community Member ${number(at)}`,
    queries: [
      "new community member",
      "ew community member 0",
      "new community member 00012",
      "new community member 0001234",
      "new community members",
      "member community new",
      "new new community member",
    ],
  },
  "characters that fold to eighteen letters": {
    kind: "user",
    count: 3000,
    name: () => "\ufdfa".repeat(190),
    queries: ["\ufdfa\ufdfa", "\ufdfa".repeat(30), "\ufdfa\ufdfaa", "a\ufdfa", "\ufdfa \ufdfa"],
  },
  "a common prefix and a common suffix": {
    kind: "user",
    count: 100_000,
    name: (at) => `Driver of the great ${number(at)} northern community`,
    queries: [
      "driver of the great northern community",
      "driver of the great  1 northern community",
      "northern community driver of the great",
      "eat northern community",
      "driver of the great 0",
    ],
  },
  "a common middle": {
    kind: "company",
    count: 100_000,
    name: (at) => `${number(at)} haulage and logistics of ${number(at * 7)}`,
    queries: [
      "haulage and logistics of",
      "haulage and logistics of the",
      "logistics haulage and",
      "0 haulage and logistics of 0",
    ],
  },
  "the same long text in two contexts": {
    kind: "user",
    count: 60_000,
    name: (at) => `heavy transports by night and day ${number(at)} light transports by night only`,
    queries: ["transports by night and day only", "transports by night and only"],
    worst: ["heavy transports by night only"],
  },
  "one repeated text": {
    kind: "user",
    count: 20_000,
    name: (at) => `${"we drive on the left ".repeat(9)}${number(at)}`,
    queries: [
      "we drive on the left ".repeat(9),
      "drive on the left we ".repeat(8),
      `${"we drive on the left ".repeat(7)}we drive on the right`,
    ],
    worst: [
      `${"we drive on the left ".repeat(9)}we drive on the `,
      "we drive on the left ".repeat(19),
    ],
  },
  "many words, one of them missing from half of the names": {
    kind: "user",
    count: 200_000,
    name: (at) => (at % 2 ? `${pairs.slice(0, 180)}${number(at)}` : `zz ${number(at)} zz`),
    queries: [
      `${Array.from({ length: 90 }, (_, at) => pairs.slice(2 * at, 2 * at + 2)).join(" ")} zz`,
      "abab zz",
      "zz ab",
    ],
  },
  "combining marks before letters": {
    kind: "user",
    count: 20_000,
    name: (at) => `${"\u093f".repeat(90)}क${"\u093f".repeat(90)}क${number(at)}`,
    queries: ["\u093f".repeat(20), `\u093fक${"\u093f".repeat(20)}`, "\u093f\u093f"],
  },
  "names in another script": {
    kind: "user",
    count: 60_000,
    name: (at) => `Новый водитель Мюллер ö ${number(at)}`,
    queries: ["новый водитель", "novyy voditel", "oe 0", "VODITEL 000012", "новыи"],
    worst: ["мюллер novyy"],
  },
  "letters at word starts and inside words": {
    kind: "user",
    count: 20_000,
    name: (at) => `${"xab".repeat(58)} ab ${number(at)}`,
    queries: ["ab", "abx", "ab 0", "abxabxabxabxabxabx", "xab 0"],
    worst: ["xabxabxabxabxabxab ab"],
  },
};
