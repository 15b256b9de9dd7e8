/** Recognises input that is no NDJSON by its first bytes, and says what to do with it. */

export const HEAD_BYTES = 512;

/** Advice, and the beginning of the input in Latin-1, which has a character for each byte. */
const kinds: Record<string, RegExp> = {
  "a spreadsheet; save each sheet as CSV UTF-8, and import their folder":
    /^(?:PK[^\w\s,;"]|\xd0\xcf)/,
  "a snapshot; give its path to roadbook import": /^SQLite format 3\0.{52}RBOK/s,
  "a SQLite database; use import sqlite:FILE --queries FOLDER": /^SQLite format 3\0/,
  "compressed with zstd; use zstd -dc FILE | roadbook import -": /^\x28\xb5\x2f\xfd/,
  "in UTF-16; use iconv -f UTF-16 -t UTF-8 FILE": /^(?:\xff\xfe|\xfe\xff|[^\0]\0|\0[^\0])/,
  "a JSON array; use jq -c '.[]' FILE | roadbook import -": /^(?:\xef\xbb\xbf)?\s*\[/,
  "a CSV file; import its folder, where each file is named after its table, such as users.csv":
    /^(?:\xef\xbb\xbf)?\s*"?[\w\x80-\xff][\w\x80-\xff "'./()-]*[,;\t]/,
};

/** Throws an error if the input begins with `head`, but not as a dataset would. */
export function refuseOtherFormats(head: Uint8Array): void {
  const start = Buffer.from(head).toString("latin1", 0, HEAD_BYTES);
  const [advice] = Object.entries(kinds).find(([, pattern]) => pattern.test(start)) ?? [];
  if (advice !== undefined) throw new Error(`the input is ${advice}`);
}
