/**
 * The tuning constants of the name index and the reasons for them. They affect the speed of a
 * search, an import or a change, and the size of the file, but never what a search finds.
 */

/**
 * An n-gram that occurs more often than this in the names is frequent. All other posting lists are
 * at most this long. Going from 200 to 100, the file of a million users grows from 184 to 197 MB,
 * and a search for three to eight letters takes a quarter to a half less processor time. Going to
 * 50 gains nothing further.
 */
export const FREQUENT_ABOVE = 100;

/** A posting list is long when it holds more than one in this many names. */
export const LONG_SHARE = 512;

/**
 * Lists with at least one in this many names are numbered before all others. Each of their rows
 * fills a page, so together they leave no page half empty.
 */
export const FULL_SHARE = 16;

/** FTS5 reads every list it intersects to the end, so only the rarest lists are intersected. */
export const MAX_SHORT_LISTS = 8;
/** A few lists of rare n-grams leave so few names that reading another list takes longer. */
export const MAX_RARE_LISTS = 3;

/** The first names are read one at a time, because ten are usually enough. */
export const MAX_SINGLE_READS = 64;
/** The names after them are read in batches, which takes a fifth of the time per name. */
export const BATCH_NAMES = 1024;

/**
 * A search remembers whether this many n-grams are frequent. Most queries have the same few
 * thousand n-grams, and one lookup takes 1.6 of the 60 to 100 µs of a search.
 */
export const KNOWN_NGRAMS = 4096;

/**
 * Ranks have gaps, so that adding a name moves only a few others. With N for this number, one rank
 * is free after every N names with equal sort keys. After the last of them, where most new names
 * go, N ranks are free and one more per N names.
 */
export const NAMES_PER_GAP = 16;

/** The most names that are moved to reach a free rank. */
export const MAX_MOVES = 4096;

/** When more than one in this many ranks changes, rebuilding the index is faster. */
export const REBUILD_SHARE = 5;

/** An import pauses after this many names or posting-list entries, so that signals are noticed. */
export const STEP_NAMES = 1 << 13;
export const STEP_LISTED = 1 << 18;
