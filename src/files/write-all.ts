/** Writes bytes to a file. On a disk that is nearly full, a single write may take only a part. */
import type { FileHandle } from "node:fs/promises";

/** Rejects if the disk is full. `at` is the offset in the file. */
export async function writeAll(
  file: Pick<FileHandle, "write">,
  bytes: Uint8Array,
  at: number,
): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const rest = bytes.length - written;
    const { bytesWritten } = await file.write(bytes, written, rest, at + written);
    written += bytesWritten;
  }
}
