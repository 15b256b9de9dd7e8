/** A replaced file is complete or untouched, and nothing is left beside it. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { BusyError, lock } from "../../src/files/lock.ts";
import { type Paths, replaceFile } from "../../src/files/replace.ts";
import { temporaryFolder } from "../support.ts";

const write =
  (text: string) =>
  async ({ next }: Paths) => {
    writeFileSync(`${next}.draft`, "half");
    writeFileSync(next, text);
  };
/** Lists a folder without the lock file, which stays. */
const listFiles = (folder: string) => readdirSync(folder).filter((name) => !name.endsWith(".lock"));

const writers = [
  ["a locked file", { isLocked: true }],
  ["a file without a lock", { isLocked: false }],
] as const;

test.each(writers)("%s is replaced and keeps its mode", async (_, options) => {
  const folder = temporaryFolder();
  const target = join(folder, "file");
  writeFileSync(target, "old");
  chmodSync(target, 0o640);
  await replaceFile(target, write("new"), options);
  expect([readFileSync(target, "utf8"), statSync(target).mode & 0o777]).toEqual(["new", 0o640]);
  expect(listFiles(folder)).toEqual(["file"]);
});

test.each(writers)("%s stays untouched if writing fails", async (_, options) => {
  const folder = temporaryFolder();
  const target = join(folder, "file");
  writeFileSync(target, "old");
  const failing = async ({ next }: Paths) => {
    writeFileSync(next, "half");
    throw new Error("no more data");
  };
  await expect(replaceFile(target, failing, options)).rejects.toThrow("no more data");
  expect(readFileSync(target, "utf8")).toBe("old");
  expect(listFiles(folder)).toEqual(["file"]);
});

test("only the owner can read a file that is not complete yet", async () => {
  const target = join(temporaryFolder(), "file");
  const writeAndStat = async (file: Paths) => {
    await write("new")(file);
    return statSync(join(file.next, "../..")).mode & 0o777;
  };
  const mode = await replaceFile(target, writeAndStat, { isLocked: false });
  expect(mode).toBe(0o700);
  expect(statSync(target).mode & 0o777).toBe(0o666 & ~process.umask());
});

test("what a killed writer left is removed, and a link's target is untouched", async () => {
  const folder = temporaryFolder();
  const elsewhere = temporaryFolder();
  writeFileSync(join(elsewhere, "new"), "precious");
  const left = join(folder, `.file.new-${process.getuid?.() ?? ""}`);
  symlinkSync(elsewhere, left);
  await replaceFile(join(folder, "file"), write("new"));
  mkdirSync(left);
  writeFileSync(join(left, "new-journal"), "x");
  await replaceFile(join(folder, "file"), async (paths) => {
    expect(readdirSync(left)).toEqual([]);
    await write("newer")(paths);
  });
  expect(listFiles(folder)).toEqual(["file"]);
  expect(readFileSync(join(elsewhere, "new"), "utf8")).toBe("precious");
});

test("links are kept, and the file at their end is replaced", async () => {
  const folder = temporaryFolder();
  const real = join(temporaryFolder(), "real");
  symlinkSync("further", join(folder, "link"));
  symlinkSync(real, join(folder, "further"));
  writeFileSync(real, "old");
  await replaceFile(join(folder, "link"), write("new"));
  expect(readFileSync(real, "utf8")).toBe("new");
  const ends = ["link", "further"].map((name) => readlinkSync(join(folder, name)));
  expect(ends).toEqual(["further", real]);
});

test("a writer that waits for too long names no flag, because serve has none for this", async () => {
  const target = join(temporaryFolder(), "file");
  using _lock = lock(join(target, "../.file.lock"));
  const replacing = replaceFile(target, write("new"), { waitMs: 20 });
  await expect(replacing).rejects.toThrow(
    new BusyError(`another command is still writing ${target} after 0.02 s`),
  );
});

function makeLink(target: string): string {
  const link = join(temporaryFolder(), "link");
  symlinkSync(target, link);
  return link;
}

test.each([
  ["a folder", () => temporaryFolder(), /^\S+ is not a regular file$/],
  ["a device", () => "/dev/null", /^\/dev\/null is not a regular file$/],
  ["in a missing folder", () => join(temporaryFolder(), "no/where"), /^cannot write \S+: no such/],
  ["a link to a missing file", () => makeLink("nowhere"), /^cannot write \S+: no such/],
  ["a link to itself", () => makeLink("link"), /^cannot write \S+: too many symbolic links/],
])("a target that is %s is a one-line error", async (_, target, expected) => {
  for (const [, options] of writers) {
    await expect(replaceFile(target(), write("new"), options)).rejects.toThrow(expected);
  }
});
