/** Temporary folders of killed processes are removed, and nothing else is. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { lock } from "../../src/files/lock.ts";
import { inTemporaryFolder } from "../../src/files/replace.ts";
import { temporaryFolder } from "../support.ts";

const { TMPDIR } = process.env;
let parent: string;
beforeAll(() => {
  parent = temporaryFolder();
  process.env.TMPDIR = parent;
});
afterAll(() => {
  process.env.TMPDIR = TMPDIR;
});

/** Creates a folder like one that a killed process leaves behind. */
function leave(name: string, file = ".lock", folder = join(parent, name)): string {
  mkdirSync(folder, { mode: 0o700 });
  for (const entry of [file, "snapshot"]) writeFileSync(join(folder, entry), "");
  return folder;
}

test("the next process removes the temporary folder of a killed process", async () => {
  const left = [leave("roadbook-aZ09zz"), leave("roadbook-bbbbbb")];
  writeFileSync(join(left[0] ?? "", ".lock-journal"), "");
  await inTemporaryFolder(async (folder) => {
    expect(left.filter(existsSync)).toEqual([]);
    expect(readdirSync(parent).map((name) => join(parent, name))).toEqual([folder]);
  });
  expect(readdirSync(parent)).toEqual([]);
});

test("a folder in use stays, and so does any folder that Roadbook did not create for this user", async () => {
  const held = leave("roadbook-hhhhhh");
  const release = lock(join(held, ".lock"));
  const elsewhere = leave("", ".lock", join(temporaryFolder(), "roadbook-eeeeee"));
  const [open, link] = [leave("roadbook-oooooo"), join(parent, "roadbook-llllll")];
  chmodSync(open, 0o755);
  symlinkSync(elsewhere, link);
  const folders = [
    held,
    open,
    link,
    elsewhere,
    leave("roadbook-nnnnnn", "no.lock"),
    leave("roadbook-bench-1"),
    leave("roadbook-test-12"),
    leave("another-aaaaaa"),
  ];
  if (process.getuid?.() === 0) {
    const foreign = leave("roadbook-ffffff");
    chownSync(foreign, 65534, 65534);
    folders.push(foreign);
  }
  await inTemporaryFolder(async () => {});
  for (const folder of folders)
    expect([folder, existsSync(join(folder, "snapshot"))]).toEqual([folder, true]);
  release?.();
});

test("each concurrent call has its own folder until the call ends", async () => {
  leave("roadbook-mmmmmm");
  const folders = await Promise.all(
    Array.from({ length: 20 }, () =>
      inTemporaryFolder(async (folder) => {
        writeFileSync(join(folder, "snapshot"), "");
        await Bun.sleep(20);
        await inTemporaryFolder(async () => {});
        expect(existsSync(join(folder, "snapshot"))).toBe(true);
        return folder;
      }),
    ),
  );
  expect(new Set(folders).size).toBe(20);
  expect(folders.filter(existsSync)).toEqual([]);
});
