/**
 * Reads names from a name index, best first. A lookup such as `[["ann"], ["nni", "nik"]]` becomes the
 * FTS5 query `(("ann") NOT "") AND ("nni" OR "nik")`, apart from the gaps of terms.ts. `allOf` has the reason.
 */
import type { NameKind } from "../domain/model.ts";
import type { Sqlite, Statement } from "../sqlite/driver.ts";
import type { SpelledName } from "./fold.ts";
import type { Lookup } from "./lookups.ts";
import { ALL_ROWS, idOfRow, type RowRange } from "./name-index.ts";
import { SLICE } from "./ngrams.ts";
import { termOf } from "./terms.ts";
import { Vocabulary } from "./vocabulary.ts";

/**
 * About how many names of the shortest list a long search reads between two pauses. With five million
 * names, that takes 3 ms, or up to 16 ms if nearly all of these names have the other n-grams, too, but do
 * not match.
 */
const SLICE_READS = 1 << 13;

const NO_LIMIT = -1;

interface IndexedName extends SpelledName {
  id: number;
}

export class IndexReader {
  readonly kind: NameKind;
  readonly vocabulary: Vocabulary;
  readonly #ids: Statement<{ id: number }>;
  readonly #names: Statement<IndexedName>;
  readonly #sliceStarts: Statement<{ row: string }>;

  constructor(client: Sqlite, kind: NameKind) {
    this.kind = kind;
    this.vocabulary = new Vocabulary(client, kind);
    const id = idOfRow[kind];
    const table = `${kind}_ngram`;
    const records = `${table} AS ngram CROSS JOIN ${kind} AS record ON record.id = ${id}`;
    const inRows = "ngram.rowid >= CAST(? AS INTEGER) AND ngram.rowid < CAST(? AS INTEGER)";
    // Without the plus, SQLite would compile the statement again for each limit.
    const inOrder = "ORDER BY ngram.rowid LIMIT +?";
    this.#ids = client.prepare(`SELECT ${id} AS id
      FROM ${table} AS ngram WHERE ${table} MATCH ? ${inOrder}`);
    // SQLite compares the names, because reading each into JavaScript takes longer.
    this.#names = client.prepare(`SELECT record.id, folded, name
      FROM ${records} WHERE ${table} MATCH ? AND (instr(folded, ?) OR instr(folded, ?))
        AND ${inRows} ${inOrder}`);
    this.#sliceStarts = client.prepare(`SELECT CAST(rowid AS TEXT) AS row
      FROM ${table} WHERE ${table} MATCH '${SLICE}' ORDER BY rowid`);
  }

  /** Lists the ids of the first names that any of the lookups finds. */
  listIds(lookups: Lookup[], limit: number): number[] {
    return this.#ids.all(this.#write(lookups), limit).map(({ id }) => id);
  }

  /** Lists the first names that any of the lookups finds and that contain one of up to two texts, if given. */
  listNames([text = "", other]: string[], lookups: Lookup[], limit: number, rows = ALL_ROWS) {
    return this.#names.all(this.#write(lookups), text, other ?? null, ...rows, limit);
  }

  /** Reads all of those one by one. */
  readNames([text = "", other]: string[], lookups: Lookup[], rows = ALL_ROWS) {
    return this.#names.iterate(this.#write(lookups), text, other ?? null, ...rows, NO_LIMIT);
  }

  /**
   * Reads the same, and yields "pause" where a search can pause. Words that are common, but not together,
   * make FTS5 read every name that has one of them. So these are read in slices, and others wait less than
   * 20 ms even with five million users.
   */
  *readWithPauses(texts: string[], lookups: Lookup[]): Generator<IndexedName | "pause", void> {
    let reads = 0;
    for (const lookup of lookups) {
      reads += Math.min(...lookup.map((group) => this.vocabulary.countAll(group)));
    }
    if (reads <= SLICE_READS) return yield* this.readNames(texts, lookups);
    // FTS5 looks for the first name before it heeds the limits of a slice, and heeds them only where it
    // finds one, so it also has to find the names of SLICE.
    const sliced = lookups.map((lookup) => lookup.map((group) => [...group, SLICE]));
    for (const rows of this.#listSlices(Math.ceil(reads / SLICE_READS))) {
      yield* this.readNames(texts, sliced, rows);
      yield "pause";
    }
  }

  /** Returns up to `count` slices of all rows, which are equally long unless many names have changed. */
  #listSlices(count: number): RowRange[] {
    const starts = this.#sliceStarts.all();
    const step = Math.ceil(starts.length / count);
    const bounds = starts.filter((_, at) => at > 0 && at % step === 0).map(({ row }) => row);
    const [first, end] = ALL_ROWS;
    return [first, ...bounds].map((from, at) => [from, bounds[at] ?? end]);
  }

  #write(lookups: Lookup[]): string {
    return lookups.map((lookup) => `(${allOf(this.vocabulary.sortByRarity(lookup))})`).join(" OR ");
  }
}

/**
 * `NOT ""` excludes nothing, but keeps FTS5 from merging the nested ANDs. FTS5 then reads a long list
 * only near the names that all lists before it have.
 */
function allOf(lookup: Lookup): string {
  return lookup.map(anyOf).reduce((found, group) => `((${found}) NOT "") AND (${group})`);
}

const anyOf = (ngrams: string[]) => ngrams.map(quote).join(" OR ");

/** Quoting a term disables FTS5's query syntax inside it. */
const quote = (ngram: string) => `"${termOf(ngram).replaceAll('"', '""')}"`;
