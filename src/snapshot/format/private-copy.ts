/**
 * Opens private copies of snapshots after verifying every byte. Nothing that happens to a file
 * afterwards reaches its copy.
 */
import { join } from "node:path";
import { MAX_BYTES_IN_MEMORY } from "../../domain/limits.ts";
import { copyIfSpace } from "../../files/disk-space.ts";
import { isFileSystemError, reasonOf } from "../../files/errors.ts";
import { openFile } from "../../files/input.ts";
import { makeTemporaryFolder, TEMPORARY } from "../../files/temporary-folder.ts";
import { parseHeader, readHeader } from "./layout.ts";
import { type OpenOptions, openBytes, openInPlace, type VerifiedDatabase } from "./open.ts";
import { namingErrors, publicReasonOf, SnapshotError } from "./snapshot-error.ts";

interface PrivateOptions extends OpenOptions {
  /** Where to copy a large file. */
  copyFolder?: string | undefined;
  /** Advice for the operator if no copy can be made there. */
  advice?: string;
}

/** Opens bytes, or a private copy of a file. */
export function openPrivate(
  source: string | Uint8Array,
  options: PrivateOptions = {},
): Promise<VerifiedDatabase> {
  return namingErrors(source, async () => {
    if (typeof source !== "string") return openBytes(source, options);

    await using file = await openFile(source);
    const { size } = await file.stat();
    if (size <= MAX_BYTES_IN_MEMORY) return await openBytes(await file.readFile(), options);
    parseHeader(await readHeader(file), size);
    return await openCopy(source, size, options);
  });
}

/** Opens an unlinked copy of the file, which the system deletes when the copy is closed. */
async function openCopy(
  path: string,
  bytes: number,
  { copyFolder = TEMPORARY, advice, oldest }: PrivateOptions,
): Promise<VerifiedDatabase> {
  try {
    using temporary = makeTemporaryFolder(copyFolder);
    const copy = join(temporary.folder, "copy");
    await copyIfSpace(path, copy, bytes);
    return await openInPlace(copy, { oldest, isMapped: true });
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    const problem = `cannot be copied (needs ${Math.ceil(bytes / 1e6)} MB in`;
    const detail = `${problem} ${copyFolder}): ${reasonOf(error)}`;
    throw new SnapshotError(
      `${problem} the cache)${publicReasonOf(error)}`,
      advice === undefined ? detail : `${detail}; ${advice}`,
    );
  }
}
