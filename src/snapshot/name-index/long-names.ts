/**
 * The names of full n-gram length or more, by each of their spellings: no n-gram has the end of such a name,
 * so those that equal a query are found here. Users have them only when some have several spellings: in
 * one spelling, a user who equals a query is among the first of those whose names begin with it.
 */
import { MAX_NGRAM } from "../../search/ngrams.ts";
import { hasCodePoints } from "../../search/rank.ts";
import { SPELLING_END } from "../../search/spellings.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "../format/schema.ts";

/** Whether a name that equals a query may come after others that begin with it. */
export function mayEqualComeLate(db: Sqlite, kind: NameKind): boolean {
  const several = "SELECT 1 FROM user_name WHERE instr(folded, char(10)) > 0 LIMIT 1";
  return kind === "company" || Boolean(db.prepare(several).get());
}

/** For an index that keeps them; undefined for any other. */
export function openLongNames(db: Sqlite, kind: NameKind) {
  if (!mayEqualComeLate(db, kind)) return undefined;
  const insert = db.prepare(`INSERT OR IGNORE INTO ${kind}_long_name (folded, rank) VALUES (?, ?)`);
  const remove = db.prepare(`DELETE FROM ${kind}_long_name WHERE folded = ? AND rank = ?`);
  const list = db.prepare<{ rank: number; folded: string }>(
    `SELECT rank, folded FROM ${kind}_name WHERE length(folded) >= ${MAX_NGRAM}`,
  );
  const isLong = (spelling: string) => hasCodePoints(spelling, MAX_NGRAM);
  const longOf = (spellings: string) => spellings.split(SPELLING_END).filter(isLong);
  return {
    /** Names of which one spelling may be long. */
    listAll: () => list.iterate(),
    add(rank: number, spellings: string): void {
      for (const spelling of longOf(spellings)) insert.run(spelling, rank);
    },
    remove(rank: number, spellings: string): void {
      for (const spelling of longOf(spellings)) remove.run(spelling, rank);
    },
  };
}
