/**
 * Reads the candidates of a search, which are names in the posting lists of the query's n-grams, in
 * rank order. A candidate may not match the query, so find.ts compares it.
 */
import { LRUCache } from "lru-cache";
import { type Boundary, coveringNgrams, END, MAX_NGRAM, START } from "../../search/ngrams.ts";
import { SPELLING_END } from "../../search/spellings.ts";
import { hasCodePoints } from "../../search/tiers.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "../format/schema.ts";
import {
  BATCH_NAMES,
  FREQUENT_ABOVE,
  KNOWN_NGRAMS,
  MAX_RARE_LISTS,
  MAX_SHORT_LISTS,
  MAX_SINGLE_READS,
} from "./constants.ts";
import { openLongLists } from "./long-lists.ts";

export interface Candidate {
  rank: number;
  /** The folded name in all its spellings. */
  folded: string;
}

/** The n-grams to look up for a text. Every name with the text behind the boundary has them all. */
export interface Cover {
  /** Empty when candidates may have any text. */
  text: string;
  boundary: Boundary;
  ngrams: string[];
  /** Whether any of the n-grams is rare, so that there are few candidates. */
  isRare: boolean;
}

interface Frequency {
  /** 0 for a rare n-gram. */
  count: number;
  /** The number of the n-gram's long list. Null if the list is in FTS5. */
  list: number | null;
}

const RARE: Frequency = { count: 0, list: null };

/** Separates names that are read as one value. Folding drops this character. */
const RECORD_END = "\u001e";

/** A change may let a rare list grow to twice the usual length. Two of them are read together. */
const MAX_RARE_NAMES = 4 * FREQUENT_ABOVE;

export class Candidates {
  readonly #frequencies: LRUCache<string, Frequency>;
  readonly #prepared: ReturnType<typeof prepare>;
  readonly #longLists: ReturnType<typeof openLongLists>;

  constructor(db: Sqlite, kind: NameKind) {
    const prepared = prepare(db, kind);
    this.#prepared = prepared;
    this.#frequencies = new LRUCache({
      max: KNOWN_NGRAMS,
      memoMethod: (ngram) => prepared.findFrequentNgram.get(ngram) ?? RARE,
    });
    this.#longLists = openLongLists(db, kind);
  }

  /** The cover of a text behind a boundary. `end` is `END` if the name must end with the text. */
  cover(boundary: Boundary, text: string, end = ""): Cover {
    return this.#cover(boundary, text, coveringNgrams(boundary, text + end, this.#isFrequent));
  }

  /** The cover of all the words together, anywhere in a name. */
  coverWords(words: string[]): Cover {
    const ngrams = words.flatMap((word) => coveringNgrams("", word, this.#isFrequent));
    return this.#cover("", "", ngrams);
  }

  #cover(boundary: Boundary, text: string, ngrams: string[]): Cover {
    return { boundary, text, ngrams, isRare: !ngrams.every(this.#isFrequent) };
  }

  readonly #isFrequent = (ngram: string): boolean => this.#frequencies.memo(ngram).count > 0;

  /**
   * All candidates of the rare covers, of which there are at most two. They are read as one value,
   * because reading a hundred names as rows takes twice as long.
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

  /** The candidates of one cover, read lazily. */
  list({ ngrams, text, boundary }: Cover): Iterable<Candidate> {
    const chosen = this.#choose(ngrams);
    const long = chosen.flatMap((ngram) => this.#frequencies.memo(ngram).list ?? []);
    const short = chosen.filter((ngram) => this.#frequencies.memo(ngram).list === null);
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

  /** The names that may equal a text. */
  listEqual(text: string): Iterable<Candidate> {
    if (hasCodePoints(text, MAX_NGRAM)) return this.#prepared.listLongEqual.iterate(text);
    return this.list(this.cover(START, text, END));
  }

  /** The n-grams whose posting lists are worth reading, rarest first. */
  #choose(ngrams: string[]): string[] {
    const counted = ngrams
      .map((ngram) => ({ ngram, count: this.#frequencies.memo(ngram).count }))
      .sort((a, b) => a.count - b.count);
    const chosen: string[] = [];
    for (const { ngram, count } of counted) {
      // After a short list, a long one takes longer to read than the names it would rule out.
      if (counted[0]?.count === 0 && (count > 0 || chosen.length === MAX_RARE_LISTS)) break;
      // If a chosen n-gram contains this one, this list rules out nothing more.
      if (!chosen.some((longer) => longer.includes(ngram))) chosen.push(ngram);
    }
    return chosen;
  }

  *#listByRank(
    ranks: Iterable<number>,
    text: string,
    boundary: Boundary,
  ): Generator<Candidate, void> {
    const { findByRank, listBeginning, listContaining } = this.#prepared;
    const listBatch = (ranks: number[]) =>
      boundary === START
        ? listBeginning.iterate(JSON.stringify(ranks), SPELLING_END + text)
        : listContaining.iterate(JSON.stringify(ranks), text);
    let singleReads = 0;
    let batch: number[] = [];
    for (const rank of ranks) {
      if (singleReads < MAX_SINGLE_READS) {
        singleReads++;
        const candidate = findByRank.get(rank);
        if (candidate) yield candidate;
      } else if (batch.push(rank) === BATCH_NAMES) {
        yield* listBatch(batch);
        batch = [];
      }
    }
    if (batch.length > 0) yield* listBatch(batch);
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
    findFrequentNgram: db.prepare<Frequency>(
      `SELECT count, list FROM ${kind}_frequent_ngram WHERE ngram = ?`,
    ),
    findByRank: db.prepare<Candidate>(`SELECT rank, folded FROM ${kind}_name WHERE rank = ?`),
    /** The names among some ranks that contain a text. */
    listContaining: listAmong("name.folded"),
    /** The same for a spelling that begins with the text. Pass SPELLING_END before the text. */
    listBeginning: listAmong("char(10) || name.folded"),
    listByShort: db.prepare<Candidate>(listMatching("instr(name.folded, ?) > 0")),
    readRare: db.prepare<{ ranks: string; names: string | null }>(
      `SELECT json_group_array(rank) AS ranks,
              group_concat(folded, char(${RECORD_END.charCodeAt(0)})) AS names
         FROM (${listMatching("(instr(name.folded, ?) > 0 OR instr(name.folded, ?) > 0)")}
               LIMIT ${MAX_RARE_NAMES})`,
    ),
    /** Only the ranks, as one value. As rows they take ten times as long. */
    listShort: db.prepare<{ ranks: string }>(
      `SELECT json_group_array(rank) AS ranks
         FROM (SELECT rowid AS rank FROM ${kind}_ngram WHERE ${kind}_ngram MATCH ? ORDER BY rowid)`,
    ),
    listLongEqual: db.prepare<Candidate>(
      `SELECT rank, folded FROM ${kind}_long_name WHERE folded = ? ORDER BY rank`,
    ),
  };
}

/** An FTS5 query for names with all n-grams. Quotes keep them from being read as its syntax. */
export function matchAll(ngrams: string[]): string {
  return ngrams.map((ngram) => `"${ngram.replaceAll('"', '""')}"`).join(" AND ");
}
