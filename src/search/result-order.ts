/**
 * The order of results within a tier, which is that of the row ids in the name indexes. So the
 * first ten names that FTS5 finds are the best ten.
 */
import type { NameKind } from "../domain/model.ts";

/** Longer names count as this long, so that a length and an id fit into a row id, which has 63 bits. */
const MAX_LENGTH = 1000;
const ID_BITS = 53;

/** The number of code points of the first spelling. Line feeds separate spellings. */
const LENGTH = `min(instr(folded || char(10), char(10)) - 1, ${MAX_LENGTH})`;

/** A name and both parts of its row id, which as one number would be no safe integer. */
export interface Entry {
  high: number;
  low: number;
  folded: string;
  name: string;
}

/** The row id of a user is the length of the name and then the id. That of a company is its rank. */
export const listEntries: Record<NameKind, string> = {
  user: `SELECT ${LENGTH} AS high, id AS low, folded, name FROM user`,
  company: "SELECT 0 AS high, rank AS low, folded, name FROM company_rank JOIN company USING (id)",
};

export const ROW_ID = `(? << ${ID_BITS}) | ?`;
export const byRowId = (a: Entry, b: Entry) => a.high - b.high || a.low - b.low;

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
export const RANK_COMPANIES = `DELETE FROM company_rank;
  INSERT INTO company_rank (rank, id)
    SELECT row_number() OVER (ORDER BY member_count DESC, id), id FROM company`;
