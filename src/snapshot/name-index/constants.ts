/**
 * Tuning constants for the name index, with the reason for each value. They affect the speed of a
 * search, an import or a change, and the size of the file, but never what a search finds.
 */

/**
 * An n-gram that occurs more often than this in all names is frequent. The posting lists of all
 * other n-grams have at most this many entries. With 100 instead of 200, a file with a million
 * users grows from 184 to 197 MB, and a search for three to eight letters takes a quarter to a half
 * less processor time. With 50, a search takes no less time than with 100.
 */
export const FREQUENT_ABOVE = 100;

/** A posting list is long if it holds more than 1/LONG_SHARE of all names. */
export const LONG_SHARE = 512;

/**
 * Lists that hold at least 1/FULL_SHARE of all names are numbered before all other lists. Each row
 * of such a list fills a page. These rows are stored together, so no page is left half empty.
 */
export const FULL_SHARE = 16;

/**
 * FTS5 intersects at most this many lists. It reads each list to the end, so only the lists of the
 * rarest n-grams are used.
 */
export const MAX_SHORT_LISTS = 8;
/**
 * At most this many lists of rare n-grams are intersected. They leave so few names that comparing
 * the names is faster than reading another list.
 */
export const MAX_RARE_LISTS = 3;

/** This many names are read one at a time before batches begin. Usually, ten names are enough. */
export const MAX_SINGLE_READS = 64;
/** Further names are read in batches of this size, five times as fast as one at a time. */
export const BATCH_NAMES = 1024;

/**
 * The number of n-grams whose frequencies are kept in memory. Most queries have the same few
 * thousand n-grams. Looking up one n-gram in the file takes 1.6 µs, and a whole search takes 60 to
 * 100 µs.
 */
export const KNOWN_NGRAMS = 4096;

/**
 * Ranks have gaps, so that adding a name moves only a few others. If N is this number, one rank is
 * left free after every N names with the same sort key. More ranks are left free after the last
 * name with that key, because most new names are added there: N ranks, plus one for every N names
 * with that key.
 */
export const NAMES_PER_GAP = 16;

/** The maximum number of names to move when making a rank free. */
export const MAX_MOVES = 4096;

/** If more than 1/REBUILD_SHARE of the ranks change, rebuilding the index is faster. */
export const REBUILD_SHARE = 100;

/** An import pauses after this many names or posting-list entries, so that it notices signals. */
export const STEP_NAMES = 1 << 13;
export const STEP_LISTED = 1 << 18;
