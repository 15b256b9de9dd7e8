/** The numbers that tune the index, with the measurements that chose them. */

/**
 * An n-gram that occurs more often than this across all names is frequent. With 200, the file of a
 * million users is 7 % smaller, but a search takes up to twice as long. With 50, it is no faster.
 */
export const FREQUENT_ABOVE = 100;

/** The maximum length of an n-gram in code points. It limits the cost of identical long names. */
export const MAX_NGRAM = 16;

/** The n-grams to look up for a text without a rare one start this many code points apart. */
export const OVERLAP_STEP = 4;

/**
 * A search reads at most this many rare lists. After that, comparing the names that are left is
 * faster: with 1 or 6, a search for three common n-grams takes a seventh longer.
 */
export const MAX_RARE_LISTS = 3;

/**
 * FTS5 reads each list to the end, so a search reads only this many, of the rarest n-grams. With
 * 100, a query of 70 words takes 2.1 instead of 0.6 ms.
 */
export const MAX_SHORT_LISTS = 8;

/** A posting list is long, and not in FTS5, if it holds more than 1/LONG_SHARE of all names. */
export const LONG_SHARE = 512;

/**
 * Usually the first ten names of long lists are enough. Further batches double up to this size, at
 * which a name takes a fifth of the time.
 */
export const MAX_BATCH = 1024;

/**
 * The frequencies of the last n-grams are kept in memory. With 64, a search for 3 common n-grams
 * takes a tenth longer. With 65,536, it is no faster.
 */
export const KNOWN_NGRAMS = 4096;

/**
 * Ranks have gaps, so that adding a name moves only a few others: one rank after every N names with
 * the same sort key, and more after the last name with that key, where most new names are added.
 */
export const NAMES_PER_GAP = 16;

/** Moving more names to make a rank free takes too long. */
export const MAX_MOVES = 4096;

/** Rebuilding the index is faster if more than 1/REBUILD_SHARE of the ranks change. */
export const REBUILD_SHARE = 100;

/** An import pauses after this many names or posting-list entries, so that it notices signals. */
export const STEP_NAMES = 1 << 13;
export const STEP_LISTED = 1 << 18;
