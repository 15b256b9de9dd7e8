/** Reasons without the code and path of system errors, and which errors come from the file system. */
import { expect, test } from "bun:test";
import { readdirSync, renameSync } from "node:fs";
import { InvalidValue, UsageError } from "../../src/domain/invalid-value.ts";
import { describeError, isFileSystemError, naming, reasonOf } from "../../src/files/errors.ts";

function errorOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

const missing = errorOf(() => readdirSync("no, really"));
const moved = errorOf(() => renameSync("no, really", "nowhere"));

test.each([
  ["an error of the system", missing, "no such file or directory"],
  ["an error about two paths", moved, "no such file or directory"],
  ["an error's cause", new Error("failed", { cause: missing }), "no such file or directory"],
  ["another error that ends with a word", new Error("the mark is old, sadly"), undefined],
  ["another error that begins like a code", new Error("EARLY: nobody is here"), undefined],
])("the reason for %s is its message without code and path", (_, error, expected) => {
  expect(reasonOf(error)).toBe(expected ?? (error as Error).message);
});

test("an error that is a bug is described by its stack, and others by their messages", () => {
  for (const bug of [new TypeError("no"), new RangeError("no"), errorOf(() => JSON.parse("no"))]) {
    expect(describeError(bug)).toBe(`bug: ${(bug as Error).stack}`);
  }
  for (const error of [new InvalidValue("no"), new UsageError("no"), new Error("no"), "no"]) {
    expect(describeError(error)).toBe("no");
  }
});

test("the reason for an error that names a file has the file, and that of the system has not", () => {
  const error = errorOf(() => naming("key.pem", "read", () => readdirSync("no, really")));
  expect(reasonOf(error)).toBe("cannot read key.pem: no such file or directory");
  expect(reasonOf(new Error("failed", { cause: error }))).toBe(reasonOf(error));
  expect(reasonOf(error, { withFile: false })).toBe("no such file or directory");
});

const unreachable = await fetch("http://127.0.0.1:1").catch((error) => error);
const sqliteError = (code: string, errno: number) =>
  Object.assign(new Error("failed"), { code, errno });

test.each([
  ["a missing file", missing, true],
  ["a name that is too long", errorOf(() => readdirSync("n".repeat(5000))), true],
  ["an error's cause", new Error("failed", { cause: missing }), true],
  ["SQLite's full disk", sqliteError("SQLITE_FULL", 13), true],
  ["SQLite's failed write", sqliteError("SQLITE_IOERR_WRITE", 778), true],
  ["SQLite's damaged page", sqliteError("SQLITE_CORRUPT", 11), false],
  ["a server that is down", unreachable, false],
  ["a wrong argument", errorOf(() => readdirSync("a\0b")), false],
])("whether %s is an error of the file system", (_, error, expected) => {
  expect(isFileSystemError(error)).toBe(expected);
});
