/** Tells by its first bytes what a file is. */

/** The application id that marks a SQLite file as a snapshot, in ASCII. */
export const SNAPSHOT_MARK = "RBOK";
const SNAPSHOT = new RegExp(`^SQLite format 3\\0.{52}${SNAPSHOT_MARK}`, "s");

/** The kinds of input that cannot be read, with advice, and the beginning of each in Latin-1. */
const foreign: Record<string, RegExp> = {
  "a spreadsheet; save each sheet as CSV UTF-8, and import their folder":
    /^(?:PK[^\w\s,;"]|\xd0\xcf)/,
  "a snapshot; give its path to roadbook import": SNAPSHOT,
  "a SQLite database; use import sqlite:FILE --queries FOLDER": /^SQLite format 3\0/,
  "compressed with zstd; use zstd -dc FILE | roadbook import -": /^\x28\xb5\x2f\xfd/,
  "in UTF-16; use iconv -f UTF-16 -t UTF-8 FILE": /^(?:\xff\xfe|\xfe\xff|[^\0]\0|\0[^\0])/,
  "a JSON array; use jq -c '.[]' FILE | roadbook import -": /^(?:\xef\xbb\xbf)?\s*\[/,
  "JSON over several lines; write one object per line: jq -c . FILE | roadbook import -":
    /^(?:\xef\xbb\xbf)?\s*\{(?:[^\n}]*[{[,])?\s*\n/,
  "a CSV file; use roadbook import FOLDER, where each is named after its table, such as users.csv":
    /^(?:\xef\xbb\xbf)?\s*"?[\w\x80-\xff][\w\x80-\xff "'./()-]*[,;\t]/,
};

/** `start` is in Latin-1, which has a character for each byte. */
export function findForeign(start: string): string | undefined {
  return Object.keys(foreign).find((kind) => foreign[kind]?.test(start));
}

/** Like {@link findForeign}, takes Latin-1. */
export function isSnapshotStart(start: string): boolean {
  return SNAPSHOT.test(start);
}

export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}
