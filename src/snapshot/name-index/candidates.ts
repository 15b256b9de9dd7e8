/**
 * Reads candidates for a search: the names in the posting lists of a query's n-grams, in rank order. A
 * candidate need not match the query. find.ts compares it with the text.
 */
import { LRUCache } from "lru-cache";
import { type Boundary, coverOf, END, MAX_NGRAM, START } from "../../search/ngrams.ts";
import { hasCodePoints } from "../../search/rank.ts";
import { SPELLING_END } from "../../search/spellings.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "../format/schema.ts";
import {
  FREQUENT_ABOVE,
  KNOWN_NGRAMS,
  MAX_ALONE,
  MAX_RARE_LISTS,
  MAX_SHORT_LISTS,
  MAX_TOGETHER,
} from "./constants.ts";
import { openLongLists } from "./long-lists.ts";

export interface Candidate {
  rank: number;
  /** The folded name in all its spellings. */
  folded: string;
}

/** The n-grams that lead to the names with a text. */
export interface Cover {
  /** Empty for any text. */
  text: string;
  boundary: Boundary;
  /** Every name with the text behind the boundary has all of them. */
  ngrams: string[];
  /** Whether one of them is not frequent, so that few names have them all. */
  isRare: boolean;
}

interface Frequent {
  count: number;
  /** The number of its long list; null when its list is in FTS5. */
  list: number | null;
}

const RARE: Frequent = { count: 0, list: null };

/** Between names that are read together. Folding drops it. */
const RECORD_END = "\u001e";

/** A list of an n-gram that is not frequent has at most twice the names that make one frequent. */
const MAX_RARE_NAMES = 4 * FREQUENT_ABOVE;

export class Candidates {
  readonly #known: LRUCache<string, Frequent>;
  readonly #prepared: ReturnType<typeof prepare>;
  readonly #longLists: ReturnType<typeof openLongLists>;

  constructor(db: Sqlite, kind: NameKind) {
    const prepared = prepare(db, kind);
    this.#prepared = prepared;
    this.#known = new LRUCache({
      max: KNOWN_NGRAMS,
      memoMethod: (ngram) => prepared.findFrequentNgram.get(ngram) ?? RARE,
    });
    this.#longLists = openLongLists(db, kind);
  }

  /** For the names in which a text occurs behind a boundary, followed by `end`. */
  cover(boundary: Boundary, text: string, end = ""): Cover {
    return this.#cover(boundary, text, coverOf(boundary, text + end, this.#isFrequent));
  }

  /** For the names that have all the words. */
  coverWords(words: string[]): Cover {
    const ngrams = words.flatMap((word) => coverOf("", word, this.#isFrequent));
    return this.#cover("", "", ngrams);
  }

  #cover(boundary: Boundary, text: string, ngrams: string[]): Cover {
    return { boundary, text, ngrams, isRare: !ngrams.every(this.#isFrequent) };
  }

  readonly #isFrequent = (ngram: string): boolean => this.#known.memo(ngram).count > 0;

  /**
   * All candidates of the rare ones among at most two covers. They are read as one value: as rows, a
   * hundred names would take twice as long.
   */
  listRare(covers: Cover[]): Candidate[] {
    const rare = covers.filter(({ isRare }) => isRare);
    if (rare.length === 0) return [];
    const match = rare.map(({ ngrams }) => `(${matchAll(this.#choose(ngrams))})`).join(" OR ");
    const [first = "", second = first] = rare.map(({ text }) => text);
    const row = this.#prepared.readRare.get(match, first, second);
    if (!row?.names) return [];
    const ranks: number[] = JSON.parse(row.ranks);
    return row.names.split(RECORD_END).map((folded, at) => ({ rank: ranks[at] ?? 0, folded }));
  }

  /** The candidates of one cover, each read when it is asked for. */
  list({ ngrams, text, boundary }: Cover): Iterable<Candidate> {
    const chosen = this.#choose(ngrams);
    const long = chosen.flatMap((ngram) => this.#known.memo(ngram).list ?? []);
    const short = chosen.filter((ngram) => this.#known.memo(ngram).list === null);
    const match = matchAll(short.slice(0, MAX_SHORT_LISTS));
    if (long.length === 0) return this.#prepared.listByShort.iterate(match, text);
    const ranks =
      short.length > 0
        ? this.#longLists.filter(
            JSON.parse(this.#prepared.listShort.get(match)?.ranks ?? "[]"),
            long,
          )
        : this.#longLists.intersect(long);
    return this.#listByRank(ranks, text, boundary);
  }

  /** Names that may equal a text. */
  listEqual(text: string): Iterable<Candidate> {
    if (hasCodePoints(text, MAX_NGRAM)) return this.#prepared.listLongEqual.iterate(text);
    return this.list(this.cover(START, text, END));
  }

  /** The n-grams whose posting lists leave the fewest names to look at, rarest first. */
  #choose(ngrams: string[]): string[] {
    const counted = ngrams
      .map((ngram) => ({ ngram, count: this.#known.memo(ngram).count }))
      .sort((a, b) => a.count - b.count);
    const chosen: string[] = [];
    for (const { ngram, count } of counted) {
      // Beside a short posting list, a long one takes longer to read than the names it would spare.
      if (counted[0]?.count === 0 && (count > 0 || chosen.length === MAX_RARE_LISTS)) break;
      // Every name in the list of a longer n-gram has this n-gram, too.
      if (!chosen.some((longer) => longer.includes(ngram))) chosen.push(ngram);
    }
    return chosen;
  }

  *#listByRank(
    ranks: Iterable<number>,
    text: string,
    boundary: Boundary,
  ): Generator<Candidate, void> {
    const { findByRank, listBeginning, listHaving } = this.#prepared;
    const listTogether = (ranks: number[]) =>
      boundary === START
        ? listBeginning.iterate(JSON.stringify(ranks), SPELLING_END + text)
        : listHaving.iterate(JSON.stringify(ranks), text);
    let alone = 0;
    let together: number[] = [];
    for (const rank of ranks) {
      if (alone < MAX_ALONE) {
        alone++;
        const candidate = findByRank.get(rank);
        if (candidate) yield candidate;
      } else if (together.push(rank) === MAX_TOGETHER) {
        yield* listTogether(together);
        together = [];
      }
    }
    if (together.length > 0) yield* listTogether(together);
  }
}

function prepare(db: Sqlite, kind: NameKind) {
  const listAmong = (spellings: string) =>
    db.prepare<Candidate>(
      `SELECT name.rank, name.folded
         FROM json_each(?) AS listed CROSS JOIN ${kind}_name AS name ON name.rank = listed.value
        WHERE instr(${spellings}, ?) > 0`,
    );
  const listMatching = (having: string) =>
    `SELECT name.rank, name.folded
       FROM ${kind}_ngram AS ngram JOIN ${kind}_name AS name ON name.rank = ngram.rowid
      WHERE ngram.${kind}_ngram MATCH ? AND ${having}
      ORDER BY ngram.rowid`;
  return {
    findFrequentNgram: db.prepare<Frequent>(
      `SELECT count, list FROM ${kind}_frequent_ngram WHERE ngram = ?`,
    ),
    findByRank: db.prepare<Candidate>(`SELECT rank, folded FROM ${kind}_name WHERE rank = ?`),
    /** Among some ranks, the names that have a text. */
    listHaving: listAmong("name.folded"),
    /** Among some ranks, the names with a spelling that begins with a text; the text begins with SPELLING_END. */
    listBeginning: listAmong("char(10) || name.folded"),
    listByShort: db.prepare<Candidate>(listMatching("instr(name.folded, ?) > 0")),
    readRare: db.prepare<{ ranks: string; names: string | null }>(
      `SELECT json_group_array(rank) AS ranks, group_concat(folded, char(${RECORD_END.charCodeAt(0)})) AS names
         FROM (${listMatching("(instr(name.folded, ?) > 0 OR instr(name.folded, ?) > 0)")}
               LIMIT ${MAX_RARE_NAMES})`,
    ),
    /** The ranks alone, as one value: as rows they would take ten times as long. */
    listShort: db.prepare<{ ranks: string }>(
      `SELECT json_group_array(rank) AS ranks
         FROM (SELECT rowid AS rank FROM ${kind}_ngram WHERE ${kind}_ngram MATCH ? ORDER BY rowid)`,
    ),
    listLongEqual: db.prepare<Candidate>(
      `SELECT rank, folded FROM ${kind}_long_name WHERE folded = ? ORDER BY rank`,
    ),
  };
}

/** FTS5 reads its own syntax outside quotes, so a quote inside an n-gram is doubled. */
export function matchAll(ngrams: string[]): string {
  return ngrams.map((ngram) => `"${ngram.replaceAll('"', '""')}"`).join(" AND ");
}
