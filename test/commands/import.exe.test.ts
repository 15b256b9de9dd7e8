/** Imports with the executable: input, output, exit codes, and progress on a terminal. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  openSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { listBeside, makeFile, textOf, user } from "../datasets.ts";
import { achievement, company, role } from "../domain/invalid-lines.ts";
import { executable, roadbook, run, temporaryFolder } from "../support.ts";

const ann = user(1, "Ann");
const text = textOf([company, role, achievement, ann, { type: "end", lines: 4 }]);

test("a dataset is read from a file or from standard input, plain or gzip", async () => {
  const cwd = temporaryFolder();
  const stdin = Buffer.concat([gzipSync(text.slice(0, 50)), gzipSync(text.slice(50))]);
  writeFileSync(join(cwd, "dataset"), text);
  const counts = "1 user (1 public), 1 company, 1 achievement, 1 role";
  const unchanged =
    "users: 0 added, 0 removed, 0 made private, 0 made public\nunlocked achievements: 0 before, 0 after\n";
  for (const [words, stdout] of [
    [["dataset", "--dry-run"], `dry run (nothing was written): would import ${counts} to s\n`],
    [["dataset"], `imported ${counts} to s\n`],
    [["-", "--expect-end"], `imported ${counts} to s\n${unchanged}`],
  ] as const) {
    const outcome = await roadbook(["import", ...words, "--to", "s"], { cwd, stdin });
    expect(outcome).toEqual({ code: 0, stdout, stderr: "" });
  }
  expect(listBeside(join(cwd, "s"))).toEqual(["dataset", "s"]);
  const hidden =
    "s: user 1 is now private\nimports keep them private for an hour, or as long as --hold says; after that, the source decides\n";
  expect(await roadbook(["hide", "1", "--to", "s"], { cwd })).toEqual({
    code: 0,
    stdout: hidden,
    stderr: "",
  });
  const intact = expect.stringMatching(/^s is intact: built \d{4}-\S+Z, 1 user /);
  expect(await roadbook(["check", "s"], { cwd })).toEqual({ code: 0, stdout: intact, stderr: "" });
});

test("a user other than root can replace a read-only snapshot, which stays read-only", async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  // The executable may be in a folder that only root can enter.
  const program = join(folder, "roadbook");
  cpSync(await executable(), program);
  const cwd = join(folder, "data");
  mkdirSync(cwd);
  const isRoot = process.getuid?.() === 0;
  const nobody = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
  if (isRoot) chownSync(cwd, 65534, 65534);
  const importAgain = () =>
    run([...nobody, program, "import", "-", "--to", "s"], { cwd, stdin: text });
  expect(await importAgain()).toMatchObject({ code: 0, stderr: "" });
  chmodSync(join(cwd, "s"), 0o444);
  expect(await importAgain()).toMatchObject({ code: 0, stderr: "" });
  expect(statSync(join(cwd, "s")).mode & 0o777).toBe(0o444);
});

test("errors go to standard error, the exit code is 1, and nothing is written", async () => {
  const cwd = temporaryFolder();
  const stdin = '{"type":"role"}\n[]\n';
  expect(await roadbook(["import", "-", "--to", "s"], { cwd, stdin })).toEqual({
    code: 1,
    stdout: "",
    stderr: `roadbook: 4 errors in the dataset; nothing was written
line 1: id: is missing
line 1: name: is missing
line 1: hierarchy: is missing
line 2: must be a valid JSON object
`,
  });
  expect(listBeside(join(cwd, "s"))).toEqual([]);
});

test("a folder as standard input is an error of the input", async () => {
  const cwd = temporaryFolder();
  const words = [await executable(), "import", "-", "--to", "s"];
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd, stdin: openSync(cwd, "r") });
  const message = "cannot read standard input: illegal operation on a directory";
  expect([exitCode, stderr.toString()]).toEqual([1, `roadbook: ${message}\n`]);
});

test("with --json, each command prints one object, also for an error", async () => {
  const cwd = temporaryFolder();
  const json = async (words: string, lines: object[] = []) => {
    const args = [...words.split(" "), "--json"];
    const { code, stdout, stderr } = await roadbook(args, { cwd, stdin: textOf(lines) });
    expect([stderr, stdout.match(/\n/g)?.length]).toEqual(["", 1]);
    return [code, JSON.parse(stdout)];
  };
  const reason =
    'must be a non-blank string of 1 to 200 code points, got ""; the user becomes private';
  const error = { line: 3, field: "name", reason, type: "user", id: 3 };
  const imported = {
    snapshot: "s",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    dry_run: false,
    counts: { roles: 0, achievements: 0, companies: 0, users: 3, public_users: 2 },
    differences: null,
    held: 0,
    not_found: [],
    unknown_columns: [],
    notes: [],
    names: {
      cleaned: 0,
      entities: { count: 0 },
      misread: { count: 0 },
      placeholders: { count: 0 },
      contacts: { count: 0 },
    },
    times: { odd: { count: 0 } },
    skipped: { count: 1, users_made_private: 1, groups: [{ count: 1, first: [error] }] },
    seconds: expect.any(Number),
  };
  const nothing = { ...imported, snapshot: null, sha256: null, dry_run: true };
  const lines = [ann, user(2, "Bo"), user(3, "")];
  const deletion = { type: "role", id: 9, deleted: true };
  for (const [words, code, outcome, input] of [
    ["import - --skip-invalid --dry-run", 0, nothing, lines],
    ["import - --skip-invalid --to s", 0, imported, lines],
    ["hide 1 3 --to s", 0, { made_private: [1], already_private: [3] }],
    ["apply - --to s", 0, { not_found: [{ type: "role", id: 9 }], snapshot: "s" }, [deletion]],
    ["check s", 0, { snapshot: "s", sha256: imported.sha256, counts: { public_users: 1 } }],
    ["import none --dry-run", 1, { error: "cannot read none: no such file or directory" }],
    ["import - --dry-run --to a/b", 1, { error: "cannot write a/b: no such file or directory" }],
    ["check none", 1, { error: "none cannot be read: no such file or directory" }],
    ["hide 7 --to s", 1, { error: "not found in s: user 7; nothing was written" }],
    ["import s --to t --expect-end", 2, { error: "--expect-end works only with NDJSON" }],
    ["import - --tto s", 2, { error: "unknown flag --tto; did you mean --to?" }],
  ] as [string, number, object, object[]?][]) {
    expect(await json(words, input)).toMatchObject([code, outcome]);
  }
});

test("the report of an import shows what is odd, with an example, and a map that is not needed", async () => {
  const cwd = temporaryFolder();
  const rows = [
    '1,1,"NULL",1970-01-01',
    "2,1,Bo,31/05/2021",
    "3,1,Tom &amp; Jerry,2999-05-31",
    "4,1,a@b.example,2021-05-31",
  ];
  await Bun.write(join(cwd, "t/users.csv"), `id,public,name,Created At\n${rows.join("\n")}\n`);
  await Bun.write(join(cwd, "t/roles.csv"), 'id\tname\thierarchy\n1\t"Driver\t5\n');
  const report = async (...flags: string[]) => {
    const { code, stdout } = await roadbook(["import", "t", "--to", "s", ...flags], { cwd });
    expect(code).toBe(0);
    return stdout.trim().split("\n");
  };
  const odd = [
    "roles.csv: quotes are characters, and backslashes are characters",
    "users.csv: created_at: read dates like 08/05/2021 as 8 May 2021",
    'HTML entities in 1 name, such as "Tom &amp; Jerry"; import --decode-html decodes them',
    'text that means no value as 1 name, such as "NULL"',
    'an e-mail address or telephone number in 1 name, such as "a@b.example"',
    'before 1990 or in the future: 2 times, such as "1970-01-01T00:00:00+00:00"',
  ];
  const [, ...lines] = await report("--dry-run");
  expect(lines).toEqual(odd);
  expect((await report("--dry-run", "--id-map", "m")).slice(1)).toEqual(odd);
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
line 3: roles: there is no role 1 (user 1)
`,
  });
});

test("with ROADBOOK_ID_MAP, a person stays hidden through a backup, an upgrade and a lost map", async () => {
  const cwd = temporaryFolder();
  const people = [5, 6, 7].map((id) => user(id, `Person ${id}`));
  writeFileSync(join(cwd, "all.ndjson"), textOf(people));
  const env = { ROADBOOK_ID_MAP: join(cwd, "ids") };
  const inFolder = (line: string, more = env) =>
    roadbook(line.split(" "), { cwd, env: { TMPDIR: cwd, ...more } });
  const steps = [
    "import all.ndjson --to s",
    "export s --to before.ndjson",
    "hide 6 --to s",
    "export s --to backup.ndjson",
    "import backup.ndjson --to s",
    "import s --to s",
    "import before.ndjson --to s",
    "import all.ndjson --to s",
  ];
  for (const line of steps) {
    expect([line, await inFolder(line)]).toMatchObject([line, { code: 0, stderr: "" }]);
  }
  const without = await inFolder("import all.ndjson --to s", {
    ROADBOOK_ID_MAP: join(cwd, "none"),
  });
  expect(without).toMatchObject({
    code: 1,
    stderr: `roadbook: ${join(cwd, "none")} is not the id map of s; give the file that s was made with, and no older copy\n`,
  });
  const { stdout } = await inFolder("export s");
  expect(stdout).toMatch(/"Person 5".*\n\{"type":"user","id":2,"public":false\}\n.*"Person 7"/);
});

test("import reports names that look wrong", async () => {
  const stdin = textOf([user(1, "Tom &amp; Jerry"), user(2, "Å\u0081ukasz"), user(3, " Eve")]);
  const { stdout } = await roadbook(["import", "-", "--to", "s"], { stdin });
  expect(stdout.split("\n").slice(1)).toEqual([
    'HTML entities in 1 name, such as "Tom &amp; Jerry"; import --decode-html decodes them',
    'text possibly read in the wrong encoding in 1 name, such as "Å\\u{81}ukasz"',
    "",
  ]);
});

test("an import shows its progress on a terminal, but not in a pipe", async () => {
  const cwd = temporaryFolder();
  const users = Array.from({ length: 10_000 }, (_, at) => user(at + 1, "Ann"));
  const command = `${await executable()} import ${makeFile(users)} --to file:s`;
  const { stdout } = await run(["script", "-qec", command, "/dev/null"], { cwd });
  const texts = stdout.split("\r\u001b[K").map((text) => text.replace(/\d+ (MB|%)/, "N $1"));
  expect([...new Set(texts)]).toEqual([
    "",
    "reading: N MB",
    "indexing: N %",
    "imported 10,000 users (10,000 public), 0 companies, 0 achievements, 0 roles to file:s\r\n",
  ]);
  expect((await run(["sh", "-c", command], { cwd })).stderr).toBe("");
  // A target such as file:s is a path, not a URI.
  expect(listBeside(join(cwd, "file:s"))).toEqual(["file:s"]);
});
