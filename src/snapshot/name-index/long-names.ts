/**
 * Finds names that equal a query in a table of the long spellings, because no n-gram contains both
 * the beginning and the end of such a spelling.
 */
import { MAX_NGRAM } from "../../search/ngrams.ts";
import { SPELLING_END } from "../../search/spellings.ts";
import { hasCodePoints } from "../../search/tiers.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "../format/schema.ts";

/**
 * Whether a name that equals a query can come after many names that only begin with the query.
 * Users with shorter names come first, so this takes a user with several spellings.
 */
export function needsEqualLookup(db: Sqlite, kind: NameKind): boolean {
  const several = "SELECT 1 FROM user_name WHERE instr(folded, char(10)) > 0 LIMIT 1";
  return kind === "company" || Boolean(db.prepare(several).get());
}

export function openLongNames(db: Sqlite, kind: NameKind) {
  if (!needsEqualLookup(db, kind)) return undefined;
  const insert = db.prepare(`INSERT OR IGNORE INTO ${kind}_long_name (folded, rank) VALUES (?, ?)`);
  const remove = db.prepare(`DELETE FROM ${kind}_long_name WHERE folded = ? AND rank = ?`);
  const list = db.prepare<{ rank: number; folded: string }>(
    `SELECT rank, folded FROM ${kind}_name WHERE length(folded) >= ${MAX_NGRAM}`,
  );
  const longOf = (spellings: string) =>
    spellings.split(SPELLING_END).filter((spelling) => hasCodePoints(spelling, MAX_NGRAM));
  return {
    /** Lists all names that might have a long spelling. */
    listAll: () => list.iterate(),
    add(rank: number, spellings: string): void {
      for (const spelling of longOf(spellings)) insert.run(spelling, rank);
    },
    remove(rank: number, spellings: string): void {
      for (const spelling of longOf(spellings)) remove.run(spelling, rank);
    },
  };
}
