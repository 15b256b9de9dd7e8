/**
 * Builds and changes the name indexes: for each kind of names, an FTS5 table that lists them under their
 * n-grams. The order of its row ids is that of results within a tier, so the first ten names that FTS5
 * finds are the best ten.
 */
import type { NameKind } from "../domain/model.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import type { SpelledName } from "./fold.ts";
import { ngramsOf, SLICE } from "./ngrams.ts";
import { NgramSample } from "./vocabulary.ts";

/** Longer names count as this long, so that a length and an id fit into a row id, which has 63 bits. */
const MAX_LENGTH = 1000;
const ID_BITS = 53;

/** The number of code points of the first spelling. Line feeds separate spellings. */
const LENGTH = `min(instr(folded || char(10), char(10)) - 1, ${MAX_LENGTH})`;

/** A name and both parts of its row id, which as one number would be no safe integer. */
interface Entry extends SpelledName {
  high: number;
  low: number;
}

/** The row id of a user is the length of the name and then the id. That of a company is its rank. */
export const listEntries: Record<NameKind, string> = {
  user: `SELECT ${LENGTH} AS high, id AS low, folded, name FROM user`,
  company: "SELECT 0 AS high, rank AS low, folded, name FROM company_rank JOIN company USING (id)",
};

const ROW_ID = `(? << ${ID_BITS}) | ?`;
const byRowId = (a: Entry, b: Entry) => a.high - b.high || a.low - b.low;

/** The id of the record that a row of the FTS5 table lists. */
export const idOfRow: Record<NameKind, string> = {
  user: `ngram.rowid & ${2 ** ID_BITS - 1}`,
  company: "(SELECT id FROM company_rank WHERE rank = ngram.rowid)",
};

/** Row ids from one on and below another, as text because they are no safe integers. */
export type RowRange = readonly [string, string];
export const ALL_ROWS: RowRange = ["0", String(2n ** 63n - 1n)];

/** The rows of names up to a length, and of all companies, whose row ids have no lengths. */
export const rowsUpToLength: Record<NameKind, (max: number) => RowRange> = {
  user: (max) => ["0", String(BigInt(max + 1) << BigInt(ID_BITS))],
  company: () => ALL_ROWS,
};

/** A number of members and an id do not fit into one row id, so companies have ranks. */
const RANK_COMPANIES = `DELETE FROM company_rank;
  INSERT INTO company_rank (rank, id)
    SELECT row_number() OVER (ORDER BY member_count DESC, id), id FROM company`;

/**
 * FTS5's ascii tokenizer treats every byte above 127 as part of a word. With these characters as
 * token characters too, it never splits an n-gram.
 */
const PUNCTUATION = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/**
 * How much FTS5 collects before it writes a segment. Longer lists would not fit into the processor's
 * cache.
 */
const HASH_BYTES = 3 * 2 ** 20;

/**
 * How long a page of FTS5 is. A search decodes half a page to find a name in a long list, so it takes
 * longer with FTS5's default of 4050 bytes. Shorter pages make the file larger.
 */
const PAGE_BYTES = 1000;

/** A long search can pause after this many names. Each place to pause costs it some microseconds. */
const SLICE_NAMES = 1 << 15;

/** An import pauses after this many names, so that it notices signals. */
const STEP_NAMES = 1 << 13;

/**
 * Builds the index of a kind of names, and replaces an existing one. Yields how many names are done
 * after each step.
 */
export function* buildNameIndex(client: Sqlite, kind: NameKind): Generator<number, void> {
  createEmptyTable(client, `${kind}_ngram`);
  if (kind === "company") client.exec(RANK_COMPANIES);
  const { add } = prepareChanges(client, kind);
  const entries = client.prepare<Entry>(`${listEntries[kind]} ORDER BY high, low`);
  const sample = new NgramSample();
  let done = 0;
  for (const entry of entries.iterate()) {
    add(entry, done % SLICE_NAMES === 0);
    sample.add(entry);
    if (++done % STEP_NAMES === 0) yield done;
  }
  sample.write(client, kind);
  client.exec(`INSERT INTO ${kind}_ngram (${kind}_ngram) VALUES ('optimize')`);
}

function createEmptyTable(client: Sqlite, table: string): void {
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
  const tokenizer = quote(`ascii tokenchars ${quote(PUNCTUATION)}`);
  // Only lists of row ids, without texts, positions and sizes: a search needs nothing else.
  client.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS ${table} USING fts5(ngrams, content='', columnsize=0,
    contentless_delete=0, detail=none, tokenize=${tokenizer})`);
  // With secure-delete, FTS5 removes a name from its lists instead of noting that it is gone.
  client.exec(`INSERT INTO ${table} (${table}, rank) VALUES
    ('secure-delete', 1), ('automerge', 0), ('hashsize', ${HASH_BYTES}), ('pgsz', ${PAGE_BYTES})`);
  client.exec(`INSERT INTO ${table} (${table}) VALUES ('delete-all')`);
}

/** Both functions must be called in the order of row ids: otherwise each call writes a segment. */
function prepareChanges(client: Sqlite, kind: NameKind) {
  const table = `${kind}_ngram`;
  const insert = client.prepare(`INSERT INTO ${table} (rowid, ngrams) VALUES (${ROW_ID}, ?)`);
  const remove = client.prepare(
    `INSERT INTO ${table} (${table}, rowid, ngrams) VALUES ('delete', ${ROW_ID}, ?)`,
  );
  const findSlice = client.prepare(
    `SELECT 1 FROM ${table} WHERE ${table} MATCH '${SLICE}' AND rowid = ${ROW_ID}`,
  );
  return {
    add(entry: Entry, isSliceStart = false): void {
      insert.run(entry.high, entry.low, ngramsOf(entry) + (isSliceStart ? SLICE : ""));
    },
    /** FTS5 must get the same n-grams as when the name was added. */
    remove(entry: Entry): void {
      const isSliceStart = Boolean(findSlice.get(entry.high, entry.low));
      remove.run(entry.high, entry.low, ngramsOf(entry) + (isSliceStart ? SLICE : ""));
    },
  };
}

/** Brings the indexes in line with changed records. */
export class NameChanges {
  readonly #client: Sqlite;
  readonly #findUser;
  /** The users that change, as they were; undefined if there was none with this id. */
  readonly #users = new Map<number, Entry | undefined>();
  #hasCompany = false;

  constructor(client: Sqlite) {
    this.#client = client;
    this.#findUser = client.prepare<Entry>(`${listEntries.user} WHERE id = ?`);
  }

  /** Must be called once per record, before it is added, changed or removed. */
  note(kind: NameKind, id: number): void {
    if (kind === "company") this.#hasCompany = true;
    else this.#users.set(id, this.#findUser.get(id) ?? undefined);
  }

  /** Must be called after all records have changed. */
  finish(): void {
    const removed: Entry[] = [];
    const added: Entry[] = [];
    for (const [id, before] of this.#users) {
      const after = this.#findUser.get(id) ?? undefined;
      if (before?.name === after?.name) continue;
      if (before) removed.push(before);
      if (after) added.push(after);
    }
    const { add, remove } = prepareChanges(this.#client, "user");
    for (const entry of removed.sort(byRowId)) remove(entry);
    for (const entry of added.sort(byRowId)) add(entry);
    if (!this.#hasCompany) return;
    // Companies are few, and one more member can move a company past many others.
    for (const _ of buildNameIndex(this.#client, "company"));
  }
}
