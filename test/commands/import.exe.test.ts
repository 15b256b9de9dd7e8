/** Imports with the executable: input, output, exit codes, and progress on a terminal. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { listBeside, makeFile, textOf, user } from "../datasets.ts";
import { achievement, company, role } from "../domain/invalid-lines.ts";
import { executable, roadbook, run, temporaryFolder } from "../support.ts";

const ann = user(1, "Ann");
const text = textOf([company, role, achievement, ann, { type: "end", lines: 4 }]);

test.each([
  ["plain", text],
  ["gzip", gzipSync(text)],
  ["gzip with two members", Buffer.concat([gzipSync(text.slice(0, 50)), gzipSync(text.slice(50))])],
])("a dataset (%s) is read from a file or from standard input", async (_, stdin) => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "dataset"), stdin);
  const counts = "1 user (1 public), 1 company, 1 achievement, 1 role";
  for (const [words, stdout] of [
    [["dataset", "--dry-run"], `dry run (nothing was written): would import ${counts} to s\n`],
    [["dataset"], `imported ${counts} to s\n`],
    [["-", "--expect-end"], `imported ${counts} to s\n`],
  ] as const) {
    const outcome = await roadbook(["import", ...words, "--to", "s"], { cwd, stdin });
    expect(outcome).toEqual({ code: 0, stdout, stderr: "" });
  }
  expect(listBeside(join(cwd, "s"))).toEqual(["dataset", "s"]);
  const intact = expect.stringMatching(
    RegExp(`^s is intact: built \\d{4}-\\S+Z, ${RegExp.escape(counts)}\n$`),
  );
  expect(await roadbook(["check", "s"], { cwd })).toEqual({ code: 0, stdout: intact, stderr: "" });
});

describe("errors go to standard error, the exit code is 1, and nothing is written:", () => {
  test.each([
    [
      "invalid lines",
      ["import", "-", "--to", "s"],
      `4 errors in the dataset; nothing was written
line 1: id: is missing
line 1: name: is missing
line 1: hierarchy: is missing
line 2: must be a valid JSON object`,
    ],
    ["a missing dataset", ["import", "none", "--to", "s"], /^cannot read none: .*$/],
    ["a folder without tables", ["import", "/", "--to", "s"], /^.*users\.csv or companies\.csv.*$/],
    ["a target in a missing folder", ["import", "-", "--to", "no/where/s"], /^.*no\/where.*$/],
  ])("%s", async (_, words, expected) => {
    const cwd = temporaryFolder();
    const outcome = await roadbook(words, { cwd, stdin: '{"type":"role"}\n[]\n' });
    expect(outcome).toMatchObject({ code: 1, stdout: "" });
    const [, message = ""] = /^roadbook: (.*)\n$/s.exec(outcome.stderr) ?? [];
    if (typeof expected === "string") expect(message).toBe(expected);
    else expect(message).toMatch(expected);
    expect(listBeside(join(cwd, "s"))).toEqual([]);
  });
});

test("import --skip-invalid lists what it skipped and exits with 0", async () => {
  const stdin = textOf([company, { ...role, name: "" }, { ...ann, roles: [1] }, user(2, "")]);
  const name = 'name: must be a non-blank string of 1 to 200 code points, got ""';
  expect(await roadbook(["import", "-", "--to", "s", "--skip-invalid"], { stdin })).toEqual({
    code: 0,
    stdout:
      "imported 2 users (1 public), 1 company, 0 achievements, 0 roles to s, skipped 3 errors, made 1 user private\n",
    stderr: `line 2: ${name} (role 1)
line 4: ${name}; the user becomes private (user 2)
line 3: roles[0]: there is no role 1 (user 1)
`,
  });
});

test("an import shows its progress on a terminal, but not in a pipe", async () => {
  const cwd = temporaryFolder();
  for (const [source, before, expected] of [
    [makeFile([ann]), "", "reading 100 %"],
    ["-", `cat ${makeFile([ann])} | `, "reading 0 MB"],
  ]) {
    const command = `${before}${await executable()} import ${source} --to s`;
    const { stdout } = await run(["script", "-qec", command, "/dev/null"], { cwd });
    expect(stdout.split("\r\u001b[K")).toEqual([
      "",
      expected,
      expect.stringMatching(/^indexing \d+ %$/),
      expect.stringMatching(/^imported .* to s\r\n$/),
    ]);
    expect((await run(["sh", "-c", command], { cwd })).stderr).toBe("");
  }
});

test("a target such as file:/s is a path, not a URI", async () => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, "file:"));
  const stdin = textOf([ann]);
  const { code, stderr } = await roadbook(["import", "-", "--to", "file:/s"], { cwd, stdin });
  expect([code, stderr]).toEqual([0, ""]);
  expect(listBeside(join(cwd, "file:/s"))).toEqual(["s"]);
});
