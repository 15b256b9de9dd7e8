/** Compresses the files of a release with zstd and writes SHA256SUMS. */
import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";

/**
 * These settings compress 118 MB to 48 MB in 9 s. xz takes 122 s to reach 43 MB, and its output
 * depends on the installed version, whereas zstd is part of Bun. By default, decoders accept a
 * window of at most 2^27 bytes.
 */
const params = {
  [constants.ZSTD_c_compressionLevel]: 12,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 27,
  [constants.ZSTD_c_checksumFlag]: 1,
};

/**
 * Writes a compressed copy beside each file, and SHA256SUMS for `sha256sum --check`. All files must
 * be in the same folder.
 */
export async function packFiles(files: string[]): Promise<void> {
  const sums: Record<string, string> = {};
  for (const file of files) {
    const bytes = readFileSync(file);
    const compressed = await promisify(zstdCompress)(bytes, { params });
    writeFileSync(`${file}.zst`, compressed);
    sums[basename(file)] = hash("sha256", bytes);
    sums[`${basename(file)}.zst`] = hash("sha256", compressed);
    process.stdout.write(`compressed ${file}.zst\n`);
  }
  const names = Object.keys(sums).sort();
  const lines = names.map((name) => `${sums[name]}  ${name}\n`);
  writeFileSync(join(dirname(files[0] ?? ""), "SHA256SUMS"), lines.join(""));
}
