/** Imports with the executable: compressed data, standard input, and the reporting of errors. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { listBeside } from "../datasets.ts";
import { community, importByExecutable, roadbook, temporaryFolder } from "../support.ts";
import { achievement, company, invalidLines, role, user } from "./invalid-lines.ts";

test("an invalid line is reported with the field and the reason", async () => {
  // Imports eight lines at a time, because --max-errors and the length of the output are limited.
  for (let from = 0; from < invalidLines.length; from += 8) {
    const batch = invalidLines.slice(from, from + 8);
    const lines = batch.map(([, line]) => (typeof line === "string" ? line : JSON.stringify(line)));
    const { code, stderr } = await roadbook(["import", "-", "--to", "s", "--max-errors", "8"], {
      stdin: lines.join("\n"),
    });
    expect(code).toBe(1);
    for (const [at, [, , expected]] of batch.entries()) {
      expect(stderr).toContain(`\nline ${at + 1}: ${expected}`);
    }
  }
}, 30_000);

const lines = [company, role, achievement, user].map((line) => JSON.stringify(line)).join("\n");
const forms: [string, Uint8Array][] = [
  ["plain", Buffer.from(lines)],
  ["gzip", gzipSync(lines)],
  [
    "gzip with two members",
    Buffer.concat([gzipSync(`${lines.slice(0, 50)}`), gzipSync(lines.slice(50))]),
  ],
];

test.each(forms)(
  "a dataset (%s) is read from a file or from standard input",
  async (_, bytes) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "dataset"), bytes);
    const done = `imported 1 user (1 public), 1 company, 1 achievement, 1 role to s\n`;
    const options = { cwd: folder };
    expect(await roadbook(["import", "dataset", "--to", "s"], options)).toEqual({
      code: 0,
      stdout: done,
      stderr: "",
    });
    expect(await roadbook(["import", "-", "--to", "s"], { ...options, stdin: bytes })).toEqual({
      code: 0,
      stdout: done,
      stderr: "",
    });
    expect(listBeside(join(folder, "s"))).toEqual(["dataset", "s"]);
  },
  30_000,
);

test.each(forms.slice(1))("a dataset (%s) that is cut off is an error", async (_, bytes) => {
  const folder = temporaryFolder();
  const { code, stderr } = await roadbook(["import", "-", "--to", "s"], {
    cwd: folder,
    stdin: bytes.subarray(0, bytes.length - 6),
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^roadbook: .*\n$/);
  expect(listBeside(join(folder, "s"))).toEqual([]);
});

test("errors go to standard error, the exit code is 1, and the target is unchanged", async () => {
  const folder = temporaryFolder();
  const outcome = await roadbook(["import", "-", "--to", "s"], {
    cwd: folder,
    stdin: '{"type":"role"}\n[]\n',
  });
  expect(outcome).toEqual({
    code: 1,
    stdout: "",
    stderr: `roadbook: 4 errors in the dataset; nothing was written
line 1: id: is missing
line 1: name: is missing
line 1: hierarchy: is missing
line 2: must be a JSON object
`,
  });
  expect(listBeside(join(folder, "s"))).toEqual([]);
});

test.each([
  ["a missing dataset", ["import", "nothing.ndjson", "--to", "s"], /nothing\.ndjson/],
  ["a folder without tables", ["import", "/", "--to", "s"], /users\.csv or companies\.csv/],
  ["a target in a missing folder", ["import", "-", "--to", "no/where/s"], /no\/where/],
])("%s is reported in a single line", async (_, words, expected) => {
  const { code, stdout, stderr } = await roadbook(words);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^roadbook: .*\n$/);
  expect(stderr).toMatch(expected);
});

test("a snapshot contains no data about a private user except the id", async () => {
  const snapshot = await importByExecutable(community);
  const bytes = readFileSync(snapshot).toString("latin1").toLowerCase();
  for (const secret of ["sekret", "secret.png", "spy"]) expect(bytes).not.toContain(secret);
  expect(bytes).toContain("nowak");
  expect(existsSync(`${snapshot}-journal`)).toBeFalse();
});
