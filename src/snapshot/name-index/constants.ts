/**
 * The numbers that the name index is tuned by, with the reason of each. They decide how fast a search,
 * an import or a change is, and how large the file, never what a search finds.
 */

/**
 * An n-gram that the names have more often than this is frequent, so the posting list of any other is no
 * longer. With a million users the file has 184 MB with 200 and 197 MB with 100, and a search of three
 * to eight letters takes a quarter to a half less processor time with 100. 50 gains nothing further.
 */
export const FREQUENT_ABOVE = 100;

/** A posting list is long when it has more than one in so many of the names. */
export const LONG_SHARE = 512;

/**
 * A list with one in so many names or more is numbered before all others: the rows that take a page each
 * come after another, and none leaves half a page empty.
 */
export const FULL_SHARE = 16;

/**
 * FTS5 reads all of every list, so it intersects a few, rarest first; and a few n-grams that are not
 * frequent leave less to look at than another list has.
 */
export const MAX_SHORT_LISTS = 8;
export const MAX_RARE_LISTS = 3;

/**
 * The first names are looked at one by one, as ten are enough as a rule. Many are looked at together, in a
 * fifth of the time that they would take one by one.
 */
export const MAX_ALONE = 64;
export const MAX_TOGETHER = 1024;

/**
 * Of so many n-grams it is remembered whether they are frequent: the same few thousand are in most queries,
 * and to look one up takes 1.6 µs of the 60 to 100 of a search.
 */
export const KNOWN_NGRAMS = 4096;

/**
 * Ranks leave a number free after this many names, and a share as large between one weight and the
 * next, where new names mostly come: so a name is added by moving a few, not all.
 */
export const NAMES_PER_GAP = 16;

/** To find a free rank, this many names are moved at most. */
export const MAX_MOVES = 4096;

/** When more than one rank in so many changes its name, building the index again is faster. */
export const REBUILD_SHARE = 5;

/** After so many names, or places in posting lists, an import looks whether a signal has come. */
export const STEP_NAMES = 1 << 13;
export const STEP_LISTED = 1 << 18;
