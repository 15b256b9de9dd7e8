/** Tells whether the file of a snapshot has been replaced or written to. */
import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { codeOf } from "../../files/errors.ts";

/** A version of a file. If there is no file, only the code of the error. */
export interface FileVersion {
  /** The file itself, which stays the same when it is written to or renamed. */
  file?: { dev: bigint; ino: bigint };
  /** Changes when the file is written to or moved. */
  state?: { size: bigint; mtimeNs: bigint; ctimeNs: bigint };
  error?: string;
}

/** A snapshot in memory has only one version. A hung network drive does not block the server. */
export async function findVersion(source: string | Uint8Array): Promise<FileVersion> {
  if (typeof source !== "string") return {};
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(source, { bigint: true });
    return { file: { dev, ino }, state: { size, mtimeNs, ctimeNs } };
  } catch (error) {
    return { error: codeOf(error) };
  }
}

export function isSameFile(one: FileVersion, other: FileVersion): boolean {
  return isDeepStrictEqual([one.file, one.error], [other.file, other.error]);
}
