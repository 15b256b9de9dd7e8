/** A replaced file is complete or untouched, and nothing is left beside it. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { lock } from "../../src/files/lock.ts";
import { isSameFile, replaceFile, replaceLocked } from "../../src/files/replace.ts";
import { temporaryFolder } from "../support.ts";

const write = (text: string) => async (paths: { path: string; work: string }) => {
  for (const path of [paths.path, paths.work]) writeFileSync(path, text);
};

test.each([
  ["replaceFile", replaceFile, []],
  ["replaceLocked", replaceLocked, [".file.lock"]],
])("%s replaces a file and keeps its mode", async (_, replace, left) => {
  const folder = temporaryFolder();
  const target = join(folder, "file");
  writeFileSync(target, "old");
  chmodSync(target, 0o640);
  await replace(target, write("new"));
  expect(readFileSync(target, "utf8")).toBe("new");
  expect(statSync(target).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder).sort()).toEqual([...left, "file"]);
});

test.each([
  ["replaceFile", replaceFile],
  ["replaceLocked", replaceLocked],
])("%s leaves the file untouched if writing fails", async (_, replace) => {
  const folder = temporaryFolder();
  const target = join(folder, "file");
  writeFileSync(target, "old");
  const failing = async (paths: { path: string; work: string }) => {
    await write("half")(paths);
    throw new Error("no more data");
  };
  await expect(replace(target, failing)).rejects.toThrow("no more data");
  expect(readFileSync(target, "utf8")).toBe("old");
  expect(readdirSync(folder).filter((name) => !name.endsWith(".lock"))).toEqual(["file"]);
});

test("only the owner can read a file that is not complete yet", async () => {
  const target = join(temporaryFolder(), "file");
  const modes = await replaceFile(target, async ({ path, work }) =>
    [path, work].map((each) => statSync(each).mode & 0o777),
  );
  expect(modes).toEqual([0o600, 0o600]);
  expect(statSync(target).mode & 0o777).toBe(0o666 & ~process.umask());
});

test("the files that a killed writer left are removed by the next one", async () => {
  const folder = temporaryFolder();
  for (const name of [".file.new", ".file.new.work", ".file.new-journal"])
    writeFileSync(join(folder, name), "x");
  await replaceLocked(join(folder, "file"), async ({ path }) => {
    expect(readFileSync(path, "utf8")).toBe("");
  });
  expect(readdirSync(folder).sort()).toEqual([".file.lock", "file"]);
});

test("a link at a temporary path is removed, and its target is untouched", async () => {
  const folder = temporaryFolder();
  const elsewhere = join(temporaryFolder(), "elsewhere");
  writeFileSync(elsewhere, "precious");
  symlinkSync(elsewhere, join(folder, ".file.new"));
  await replaceLocked(join(folder, "file"), write("new"));
  expect(readFileSync(elsewhere, "utf8")).toBe("precious");
});

test.each([true, false])(
  "links are kept, and the file at their end is replaced: it exists: %p",
  async (exists) => {
    const [folder, other] = [temporaryFolder(), temporaryFolder()];
    symlinkSync("further", join(folder, "link"));
    symlinkSync(join(other, "real"), join(folder, "further"));
    if (exists) writeFileSync(join(other, "real"), "old");
    await replaceLocked(join(folder, "link"), write("new"));
    expect(readFileSync(join(other, "real"), "utf8")).toBe("new");
    expect(readdirSync(folder).sort()).toEqual(["further", "link"]);
  },
);

test.each([
  ["a folder", () => temporaryFolder(), /^\S+ is not a regular file$/],
  ["a device", () => "/dev/null", /^\/dev\/null is not a regular file$/],
  [
    "in a missing folder",
    () => join(temporaryFolder(), "no/where"),
    /^cannot write \S+: no such file or directory$/,
  ],
])("a target that is %s is a one-line error", async (_, target, expected) => {
  for (const replace of [replaceFile, replaceLocked]) {
    await expect(replace(target(), write("new"))).rejects.toThrow(expected);
  }
});

test("a file is the same through a link, a hard link or another spelling", () => {
  const folder = temporaryFolder();
  const [file, link, hardLink, other] = ["file", "link", "hard", "other"].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  for (const path of [file, other]) writeFileSync(path, "");
  symlinkSync(file, link);
  linkSync(file, hardLink);
  for (const path of [file, link, hardLink, `${folder}/../${basename(folder)}/file`]) {
    expect(isSameFile(file, path)).toBe(true);
  }
  for (const path of [other, join(folder, "missing")]) expect(isSameFile(file, path)).toBe(false);
});

test("only one writer at a time may replace a locked file", async () => {
  const target = join(temporaryFolder(), "file");
  const release = lock(join(target, "../.file.lock"));
  await expect(replaceLocked(target, write("new"), { waitMs: 1 })).rejects.toThrow(
    "another command is still writing",
  );
  let isWaiting = false;
  const onWait = () => {
    isWaiting = true;
    release?.();
  };
  await replaceLocked(target, write("new"), { onWait });
  expect([isWaiting, readFileSync(target, "utf8")]).toEqual([true, "new"]);
});
