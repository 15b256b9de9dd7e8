/**
 * File locks: only one process holds a lock at a time, the operating system releases the lock of a
 * killed process, and the empty lock file stays.
 */
import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { lock } from "../../src/files/lock.ts";
import { root, temporaryFolder } from "../support.ts";

/** Starts a program that can take the lock at `path`. */
const start = (path: string, program: string) =>
  Bun.spawn(
    [
      process.execPath,
      "-e",
      `import { lock } from "${root}/src/files/lock.ts";
       const path = ${JSON.stringify(path)};
       ${program}`,
    ],
    { cwd: root, stdout: "pipe", stderr: "inherit" },
  );

test("a lock has one holder at a time, and the empty lock file stays after the release", () => {
  const folder = temporaryFolder();
  const path = join(folder, ".x.lock");
  for (let times = 0; times < 2; times++) {
    const release = lock(path);
    expect([release, lock(path)]).toEqual([expect.any(Function), undefined]);
    expect(readdirSync(folder)).toEqual([".x.lock"]);
    release?.();
  }
  expect([readdirSync(folder), statSync(path).size]).toEqual([[".x.lock"], 0]);
});

test("the lock of a killed process is released", async () => {
  const path = join(temporaryFolder(), ".x.lock");
  const program = "const release = lock(path); console.log(1); setInterval(() => release, 1000);";
  const holder = start(path, program);
  await holder.stdout.getReader().read();
  expect(lock(path)).toBeUndefined();
  holder.kill("SIGKILL");
  await holder.exited;
  const release = lock(path);
  expect(release).toBeFunction();
  release?.();
});

test("a user who may write to the folder may take the lock", () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o770);
  const path = join(folder, ".x.lock");
  lock(path)?.();
  expect(statSync(path).mode & 0o777).toBe(0o660);
});

test("a lock that is another program's file is refused, and its name is in the error", () => {
  const path = join(temporaryFolder(), ".x.lock");
  writeFileSync(path, "precious");
  expect(() => lock(path)).toThrow(
    `${path} is not a Roadbook lock file; remove it if you do not need it`,
  );
  expect(readFileSync(path, "utf8")).toBe("precious");
});

test("a lock that is a symbolic link is refused, and nothing is created at its end", () => {
  const folder = temporaryFolder();
  const [path, elsewhere] = [join(folder, ".x.lock"), join(folder, "elsewhere")];
  symlinkSync(elsewhere, path);
  expect(() => lock(path)).toThrow(`${path} must not be a symbolic link`);
  expect(existsSync(elsewhere)).toBe(false);
});
