/** The same through the executable: forms of a dataset, and how errors are told. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { listBeside } from "../datasets.ts";
import { community, importByExecutable, roadbook, temporaryFolder } from "../support.ts";
import { achievement, company, role, user, wrongLines } from "./wrong-lines.ts";

test("a line is refused with its field and the reason", async () => {
  // A few at a time, as a command line and its output have bounds.
  for (let from = 0; from < wrongLines.length; from += 8) {
    const some = wrongLines.slice(from, from + 8);
    const lines = some.map(([, line]) => (typeof line === "string" ? line : JSON.stringify(line)));
    const { code, stderr } = await roadbook(["import", "-", "--to", "s", "--max-errors", "8"], {
      stdin: lines.join("\n"),
    });
    expect(code).toBe(1);
    for (const [at, [, , expected]] of some.entries()) {
      expect(stderr).toContain(`\nline ${at + 1}: ${expected}`);
    }
  }
}, 30_000);

const lines = [company, role, achievement, user].map((line) => JSON.stringify(line)).join("\n");
const forms: [string, Uint8Array][] = [
  ["plain", Buffer.from(lines)],
  ["gzip", gzipSync(lines)],
  [
    "gzip of two members",
    Buffer.concat([gzipSync(`${lines.slice(0, 50)}`), gzipSync(lines.slice(50))]),
  ],
  ["zstd", zstdCompressSync(Buffer.from(lines))],
];

test.each(forms)(
  "%s comes from a file or from standard input",
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

test.each(forms.slice(1))("%s that ends early is refused", async (_, bytes) => {
  const folder = temporaryFolder();
  const { code, stderr } = await roadbook(["import", "-", "--to", "s"], {
    cwd: folder,
    stdin: bytes.subarray(0, bytes.length - 6),
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^roadbook: .*\n$/);
  expect(listBeside(join(folder, "s"))).toEqual([]);
});

test("errors go to standard error, the exit code is 1, and the target stays as it was", async () => {
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
  ["a dataset that is not there", ["import", "nothing.ndjson", "--to", "s"], /nothing\.ndjson/],
  ["a folder as dataset", ["import", "/", "--to", "s"], /directory/i],
  ["a target in no folder", ["import", "-", "--to", "no/where/s"], /no\/where/],
])("%s is one clear line", async (_, words, expected) => {
  const { code, stdout, stderr } = await roadbook(words);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^roadbook: .*\n$/);
  expect(stderr).toMatch(expected);
});

test("of a private user the snapshot holds the id and nothing else", async () => {
  const snapshot = await importByExecutable(community);
  const bytes = readFileSync(snapshot).toString("latin1").toLowerCase();
  for (const secret of ["sekret", "secret.png", "spy"]) expect(bytes).not.toContain(secret);
  expect(bytes).toContain("nowak");
  expect(existsSync(`${snapshot}-journal`)).toBeFalse();
});
