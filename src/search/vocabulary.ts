/**
 * Which n-grams a name index lists, and how common they are. FTS5 could count the names of an n-gram
 * only by reading all of them, so the names of a sample are counted when the index is built. Later
 * changes are not counted, because a wrong number only makes a search slower.
 */
import type { NameKind } from "../domain/model.ts";
import type { Sqlite, Statement } from "../sqlite/driver.ts";
import type { SpelledName } from "./fold.ts";
import { ngramsOf } from "./ngrams.ts";
import { GAP, ngramOf, SEPARATOR, termOf } from "./terms.ts";

/** One of this many names is counted. */
const SAMPLED = 64;

/** Rarer n-grams are not stored. */
const MIN_COUNT = 16;

/**
 * If even the rarest n-gram lists this many names, neighbouring n-grams are picked, too. Fewer
 * names are compared soon enough.
 */
const MANY_NAMES = 4096;

/** Counts the n-grams of names, which must be added in the order of the index. */
export class NgramSample {
  readonly #counts = new Map<string, number>();
  #added = 0;

  add(name: SpelledName): void {
    if (this.#added++ % SAMPLED !== 0) return;
    for (const term of new Set(ngramsOf(name).trimEnd().split(SEPARATOR))) {
      this.#counts.set(term, (this.#counts.get(term) ?? 0) + 1);
    }
  }

  write(client: Sqlite, kind: NameKind): void {
    client.exec(`CREATE TABLE IF NOT EXISTS ${kind}_common
        (ngram TEXT PRIMARY KEY, counted INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      DELETE FROM ${kind}_common`);
    const insert = client.prepare(`INSERT INTO ${kind}_common (ngram, counted) VALUES (?, ?)`);
    for (const [term, count] of this.#counts) {
      if (count >= MIN_COUNT) insert.run(ngramOf(term), count);
    }
  }
}

export class Vocabulary {
  readonly #counts: ReadonlyMap<string, number>;
  readonly #nextTerm: Statement<{ term: string }>;

  constructor(client: Sqlite, kind: NameKind) {
    const common = client.prepare<{ ngram: string; counted: number }>(
      `SELECT ngram, counted FROM ${kind}_common`,
    );
    this.#counts = new Map(common.all().map(({ ngram, counted }) => [ngram, counted]));
    client.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.${kind}_term
      USING fts5vocab(main, ${kind}_ngram, instance)`);
    this.#nextTerm = client.prepare(`SELECT term FROM temp.${kind}_term WHERE term > ? LIMIT 1`);
  }

  /** Returns about how many names an n-gram lists, or 0 if they are few. */
  count(ngram: string): number {
    return (this.#counts.get(ngram) ?? 0) * SAMPLED;
  }

  /** Returns about how many names the n-grams of a group list together. */
  countAll(group: string[]): number {
    return group.reduce((sum, ngram) => sum + this.count(ngram), 0);
  }

  /** Sorts groups of n-grams by how many names they list, fewest first. */
  sortByRarity(groups: string[][]): string[][] {
    return groups.toSorted((a, b) => this.countAll(a) - this.countAll(b));
  }

  /**
   * Returns the rarest n-gram of each part of a text. Neighbours are mostly rare together, so the rarest
   * of all would exclude fewer names.
   */
  pickRarest(ngrams: string[], max: number): string[] {
    const { length } = ngrams;
    const isCommon = ngrams.every((ngram) => this.count(ngram) >= MANY_NAMES);
    const parts = Math.min(max, isCommon ? length : Math.ceil((length + 1) / 2));
    return Array.from({ length: parts }, (_, part) => {
      const start = Math.floor((part * length) / parts);
      const end = Math.floor(((part + 1) * length) / parts);
      return ngrams
        .slice(start, end)
        .reduce((rarest, ngram) => (this.count(ngram) < this.count(rarest) ? ngram : rarest));
    });
  }

  /** Returns the n-grams that are one code point longer than this beginning. */
  listLonger(beginning: string): string[] {
    const start = termOf(beginning) + GAP;
    const longer: string[] = [];
    // The last code point sorts after whatever follows an n-gram that has been found.
    for (let last = start; ; last += "\u{10ffff}") {
      const term = this.#nextTerm.get(last)?.term;
      if (!term?.startsWith(start)) return longer;
      const [next = ""] = term.slice(start.length);
      longer.push(beginning + next);
      last = start + next;
    }
  }
}
