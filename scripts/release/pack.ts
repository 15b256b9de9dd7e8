/** Packs the files of a release with xz, and writes SHA256SUMS of all of them. */
import { createReadStream, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Writes a packed copy of each file, and SHA256SUMS of files and copies, beside them. One thread a
 * file: xz divides its work by threads, and other parts are other bytes.
 */
export async function packFiles(files: string[]): Promise<void> {
  const waiting = [...files];
  const work = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) await pack(file);
  };
  await Promise.all(Array.from({ length: navigator.hardwareConcurrency }, work));
  const all = files.flatMap((file) => [file, `${file}.xz`]);
  await writeChecksums(all);
}

/** Writes SHA256SUMS, which `sha256sum --check` reads, into the folder of the files. */
export async function writeChecksums(files: string[]): Promise<void> {
  const lines = [];
  for (const file of files.toSorted()) lines.push(`${await sha256(file)}  ${basename(file)}\n`);
  writeFileSync(join(dirname(files[0] ?? "."), "SHA256SUMS"), lines.join(""));
}

async function pack(file: string): Promise<void> {
  const xz = Bun.spawn(["xz", "--threads=1", "--keep", "--force", file], { stdout: "inherit" });
  if ((await xz.exited) !== 0) throw new Error(`xz cannot pack ${file}`);
  process.stdout.write(`packed ${file}.xz\n`);
}

async function sha256(file: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest("hex");
}
