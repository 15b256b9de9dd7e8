/** Decompresses gzip data, refuses data that is no dataset, and passes other data through unchanged. */
import { pipeline } from "node:stream";
import zlib from "node:zlib";
import { codeOf, reasonOf } from "./errors.ts";

/** With Node's default of 16 KiB, decompression takes three times as long. */
const CHUNK_BYTES = 1 << 18;

const HEAD_BYTES = 512;

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

/**
 * Yields the bytes of `input`, decompressed if they begin like gzip data (RFC 1952) of one or more
 * members. Throws if the data is damaged, ends early, is followed by something else, or cannot be a
 * dataset.
 */
export async function* decompress(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = input[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  while (head.length < HEAD_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  let bytes = 0;
  async function* whole() {
    try {
      if (!isGzip) refuseOtherFormats(head);
      bytes += head.length;
      yield head;
      for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) {
        bytes += chunk.length;
        yield chunk;
      }
    } finally {
      // Closes the input even if the reader stops after `head`.
      await chunks.return?.();
    }
  }
  if (!isGzip) return yield* whole();
  const decoder = zlib.createGunzip({ chunkSize: CHUNK_BYTES });
  try {
    // The callback can ignore errors, because reading the decoder throws them.
    yield* pipeline(whole(), decoder, () => {});
  } catch (error) {
    if (!codeOf(error).startsWith("Z_")) throw error;
    throw new Error(`the gzip data is damaged or ends early: ${reasonOf(error)}`);
  }
  // zlib silently stops at zeros, which some programs use as padding between members.
  if (decoder.bytesWritten !== bytes) {
    throw new Error("the gzip data is followed by other data; remove that data or repack the file");
  }
}

/** Throws an error if the input begins with `head`, but not as a dataset would. */
function refuseOtherFormats(head: Uint8Array): void {
  const start = Buffer.from(head).toString("latin1", 0, HEAD_BYTES);
  const [advice] = Object.entries(kinds).find(([, pattern]) => pattern.test(start)) ?? [];
  if (advice !== undefined) throw new Error(`the input is ${advice}`);
}
