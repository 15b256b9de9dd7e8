/** A replaced file is complete or untouched, and nothing is left beside it. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { lock } from "../../src/files/lock.ts";
import { replaceFile, replaceLocked } from "../../src/files/replace.ts";
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
  for (const name of [".file.new", ".file.new.work"]) writeFileSync(join(folder, name), "x");
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

test("a symbolic link is kept, and the file at its end is replaced", async () => {
  const [folder, other] = [temporaryFolder(), temporaryFolder()];
  symlinkSync(join(other, "real"), join(folder, "link"));
  await replaceLocked(join(folder, "link"), write("new"));
  expect(readFileSync(join(other, "real"), "utf8")).toBe("new");
  expect(readdirSync(folder)).toEqual(["link"]);
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
