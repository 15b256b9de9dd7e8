/** Tells what an input is by its name and its first bytes. Does no I/O. */

/** Stands for standard input or output, where a file can be given. */
export const STANDARD = "-";

/** Whether what names an input is a URL, and not a path. */
export function isUrl(name: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(name);
}

/** The application id that marks a SQLite file as a snapshot, in ASCII. */
export const SNAPSHOT_MARK = "RBOK";

/** A kind of input that cannot be read. */
interface Foreign {
  /** What it is, and what to do instead. */
  is: string;
  /** Its beginning in Latin-1, which has a character for each byte. */
  starts: RegExp;
}

const foreign: readonly Foreign[] = [
  {
    is: "a spreadsheet; save it as CSV UTF-8, and give that file, or a folder of several",
    starts: /^(?:PK[^\w\s,;"]|\xd0\xcf)/,
  },
  {
    is: "a snapshot; give its path to roadbook import",
    starts: new RegExp(`^SQLite format 3\\0.{52}${SNAPSHOT_MARK}`, "s"),
  },
  {
    is: "a SQLite database; use import sqlite:FILE --queries FOLDER",
    starts: /^SQLite format 3\0/,
  },
  {
    is: "compressed with zstd; use zstd -dc FILE | roadbook import -",
    starts: /^\x28\xb5\x2f\xfd/,
  },
  {
    is: "in UTF-16; save it as UTF-8, or use iconv -f UTF-16 -t UTF-8 FILE > NEW",
    starts: /^(?:\xff\xfe|\xfe\xff|[^\0]\0|\0[^\0])/,
  },
  {
    is: "a JSON array; convert it with jq -c '.[]' FILE > FILE.ndjson",
    starts: /^(?:\xef\xbb\xbf)?\s*\[/,
  },
  {
    is: "JSON over several lines; write one object per line: jq -c . FILE > FILE.ndjson",
    starts: /^(?:\xef\xbb\xbf)?\s*\{(?:[^\n}]*[{[,])?\s*\n/,
  },
  {
    is: "a CSV file; import its folder, or a name that ends in .csv, into a snapshot",
    starts: /^(?:\xef\xbb\xbf)?\s*"?[\w\x80-\xff][\w\x80-\xff "'./()=-]*[,;\t]/,
  },
];

/** Says what input is that cannot be read, and what to do instead. `start` is in Latin-1. */
export function findForeign(start: string): string | undefined {
  return foreign.find(({ starts }) => starts.test(start))?.is;
}

export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}
