/**
 * File locks: only one process holds a lock at a time, the operating system releases the lock of a
 * killed process, and the empty lock file stays. A killed process's temporary folder is removed.
 */
import { expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { lock, makeTemporaryFolder, removeLeftovers } from "../../src/files/lock.ts";
import { root, temporaryFolder } from "../support.ts";

/** Starts a program that can take the lock at `path`. */
const start = (path: string, program: string) =>
  Bun.spawn(
    [
      process.execPath,
      "-e",
      `import { lock, makeTemporaryFolder, removeLeftovers } from "${root}/src/files/lock.ts";
       const path = ${JSON.stringify(path)};
       ${program}`,
    ],
    { cwd: root, stdout: "pipe", stderr: "inherit" },
  );

test("a lock has one holder at a time, and the empty lock file stays after the release", () => {
  const folder = temporaryFolder();
  const path = join(folder, ".x.lock");
  for (let times = 0; times < 2; times++) {
    using _held = lock(path);
    expect(() => lock(path)).toThrow("database is locked");
    expect(readdirSync(folder)).toEqual([".x.lock"]);
  }
  expect([readdirSync(folder), statSync(path).size]).toEqual([[".x.lock"], 0]);
});

test("a lock that is shared has several holders, and no other holder meanwhile", () => {
  const path = join(temporaryFolder(), ".x.lock");
  const share = () => lock(path, { isShared: true });
  {
    using _first = share();
    using _second = share();
    expect(() => lock(path)).toThrow("database is locked");
  }
  using _held = lock(path);
  expect(share).toThrow("database is locked");
});

test("the lock of a killed process is released", async () => {
  const path = join(temporaryFolder(), ".x.lock");
  const program = "const held = lock(path); console.log(1); setInterval(() => held, 1000);";
  const holder = start(path, program);
  await holder.stdout.getReader().read();
  expect(() => lock(path)).toThrow("database is locked");
  holder.kill("SIGKILL");
  await holder.exited;
  using held = lock(path);
  expect(held).toBeDefined();
});

test("a user who may write to the folder may take the lock", () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o770);
  const path = join(folder, ".x.lock");
  lock(path)[Symbol.dispose]();
  expect(statSync(path).mode & 0o777).toBe(0o660);
});

test("a lock that is another program's file or a link is refused, and nothing is written", () => {
  const folder = temporaryFolder();
  const path = join(folder, "x");
  const link = join(folder, "y");
  const elsewhere = join(folder, "z");
  writeFileSync(path, "precious");
  expect(() => lock(path)).toThrow(
    `${path} is not a Roadbook lock file; remove it if you do not need it`,
  );
  expect(readFileSync(path, "utf8")).toBe("precious");
  symlinkSync(elsewhere, link);
  expect(() => lock(link)).toThrow(`${link} must not be a symbolic link`);
  expect(existsSync(elsewhere)).toBe(false);
});

test("the temporary folder of a killed process is removed at the next start, and no other", async () => {
  const parent = temporaryFolder();
  const elsewhere = temporaryFolder();
  const hold =
    "console.log((await makeTemporaryFolder(path)).folder); setInterval(() => {}, 1000);";
  await using running = start(parent, hold);
  await using killed = start(elsewhere, hold);
  const findFolder = async ({ stdout }: typeof killed) =>
    basename(dirname(new TextDecoder().decode((await stdout.getReader().read()).value)));
  const alive = await findFolder(running);
  const left = await findFolder(killed);
  killed.kill("SIGKILL");
  await killed.exited;

  const kept = [alive, "target", "other"];
  const copies: Record<string, (folder: string, lockFile: string) => void> = {
    "roadbook-other1x": () => {},
    "other-aaaaaa": () => {},
    "roadbook-bbbbbb": (folder) => writeFileSync(join(folder, "notes"), ""),
    "roadbook-cccccc": (_, lockFile) => rmSync(lockFile),
    "roadbook-dddddd": (_, lockFile) => writeFileSync(lockFile, "of another program"),
    "roadbook-eeeeee": (_, lockFile) => {
      renameSync(lockFile, join(parent, "other"));
      symlinkSync("../other", lockFile);
    },
    "roadbook-ffffff": (folder) => {
      renameSync(folder, join(parent, "target"));
      symlinkSync("target", folder);
    },
    "roadbook-hhhhhh": (folder) => rmSync(join(folder, "files"), { recursive: true }),
    // Only root can give a folder to another user.
    ...(process.getuid?.() === 0 && { "roadbook-gggggg": (folder) => chownSync(folder, 1, 1) }),
  };
  // Changed before they are moved, so that each is complete when it is there.
  for (const [name, change] of Object.entries(copies)) {
    const folder = join(elsewhere, name);
    cpSync(join(elsewhere, left), folder, { recursive: true });
    change(folder, join(folder, "in-use-by-roadbook"));
    renameSync(folder, join(parent, name));
    kept.push(name);
  }

  const dead = join(parent, left);
  renameSync(join(elsewhere, left), dead);
  kept.push(basename(dirname((await makeTemporaryFolder(parent)).folder)));
  expect(existsSync(dead)).toBe(false);
  // Several at once, and in this process, which must keep its own lock for others to see.
  await Promise.all([1, 2, 3].map(() => removeLeftovers(parent)));
  expect(await start(parent, "await removeLeftovers(path)").exited).toBe(0);
  expect(readdirSync(parent).sort()).toEqual(kept.sort());
});
