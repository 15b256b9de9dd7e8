/**
 * The head of a snapshot file: the fields of SQLite's header (https://www.sqlite.org/fileformat.html)
 * that say whether a file is a snapshot of this schema, and how long it must be.
 */

/** "RBOK": tells a snapshot from any other SQLite file. */
export const APPLICATION_ID = 0x52424f4b;
export const SCHEMA_VERSION = 3;

export const HEADER_BYTES = 100;

/** After the pages of the database, a snapshot has as many bytes; see checksum.ts. */
export const TRAILER_BYTES = 81;

/** RFC 8878, 3.1.1. */
const ZSTD_MAGIC = "28b52ffd";

/** Why something is not a snapshot that can be read; `message` goes on where its name ends. */
export class InvalidSnapshot extends Error {
  override name = "InvalidSnapshot";
}

/**
 * The length of the database in a file that begins with `bytes` and is `size` bytes long. Throws an
 * {@link InvalidSnapshot}.
 */
export function parseHeader(bytes: Uint8Array, size: number): number {
  if (size === 0) throw new InvalidSnapshot("is empty");
  const header = Buffer.from(bytes.subarray(0, HEADER_BYTES));
  if (header.toString("hex", 0, 4) === ZSTD_MAGIC) {
    throw new InvalidSnapshot("is compressed: decompress it with zstd -d, or serve it from a URL");
  }
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, 16) !== "SQLite format 3\0") {
    throw new InvalidSnapshot("is not a Roadbook snapshot");
  }
  if (header.readUInt32BE(68) !== APPLICATION_ID) {
    throw new InvalidSnapshot("is a SQLite file, but not a Roadbook snapshot");
  }
  const version = header.readUInt32BE(60);
  if (version !== SCHEMA_VERSION) {
    const advice = version > SCHEMA_VERSION ? "use a newer Roadbook" : "import the dataset again";
    throw new InvalidSnapshot(
      `has schema ${version}, this Roadbook reads ${SCHEMA_VERSION}: ${advice}`,
    );
  }
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const databaseBytes = header.readUInt32BE(28) * pageSize;
  if (size !== databaseBytes + TRAILER_BYTES) {
    throw new InvalidSnapshot(
      `has ${size} bytes, not the ${databaseBytes + TRAILER_BYTES} it was written with`,
    );
  }
  return databaseBytes;
}
