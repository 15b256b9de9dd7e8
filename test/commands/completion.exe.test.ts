/** The completion scripts and the manual page, tried in the shells and readers that they are for. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatManPage } from "../../scripts/release/man.ts";
import { createProgram } from "../../src/commands/command-line.ts";
import { variableOf } from "../../src/commands/environment.ts";
import { executable, roadbook, run, temporaryFolder } from "../support.ts";

const isRequired = Boolean(process.env.ROADBOOK_REQUIRE_ALL);
const { commands } = createProgram({});
const shells = ["bash", "zsh", "fish"] as const;

/** Registers a test that needs a program: without it the test is skipped, or fails where all is required. */
function testWith(program: string) {
  const has = Bun.which(program) !== null;
  if (!has) console.warn(`${program} is missing: what is for it is not tried`);
  return test.if(has || isRequired);
}

async function writeScript(shell: string): Promise<string> {
  const { code, stdout, stderr } = await roadbook(["completion", shell]);
  expect([code, stderr]).toEqual([0, ""]);
  const file = join(temporaryFolder(), "script");
  writeFileSync(file, stdout);
  return file;
}

/** A folder with two things to complete. */
function folderOfFiles(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "one folder"));
  writeFileSync(join(folder, "one.snapshot"), "");
  return folder;
}

const names = [...commands.map((command) => command.name()), "help"];
const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** What is typed, the last word unfinished, and what completes it. */
const cases: [string[], string[]][] = [
  [[""], names],
  [["im"], ["import"]],
  [["--log-level", ""], levels],
  [["serve", "--log-level", "de"], ["debug"]],
  [
    ["serve", "--language", ""],
    ["en", "de"],
  ],
  [
    ["serve", "--tls"],
    ["--tls-cert", "--tls-key"],
  ],
  [["--trust"], ["--trusted-proxy", "--trust-snapshot"]],
  [["serve", "--port", ""], []],
  [["import", "--e"], ["--expect-end"]],
  [["import", "--log"], []],
  [["completion", ""], [...shells]],
  [["help", "ex"], ["export"]],
  [
    ["--snapshot", "one"],
    ["one folder", "one.snapshot"],
  ],
  [
    ["--cache-dir", "one"],
    ["one folder", "one.snapshot"],
  ],
  [["check", "one."], ["one.snapshot"]],
  [["schema", "one"], []],
];

describe.each(shells)("the script for %s", (shell) => {
  testWith(shell)("has no syntax error", async () => {
    expect(await run([shell, "-n", await writeScript(shell)])).toMatchObject({
      code: 0,
      stderr: "",
    });
  });

  test.each(commands.map((command) => command.name()))("is told each flag of %s", async (name) => {
    const options = commands.find((command) => command.name() === name)?.options ?? [];
    const { stdout } = await roadbook(["completion", shell, "--", name, "--"]);
    const flags = stdout.split("\n").flatMap((line) => line.match(/^--[\w-]+/) ?? []);
    expect(flags).toEqual([...options.map(({ long = "" }) => long), "--help"]);
  });

  test("is told what a value in one word with its flag may be", async () => {
    const { stdout } = await roadbook(["completion", shell, "--", "--log-level=de"]);
    expect(stdout.trim()).toMatch(/^debug\W?$/);
  });
});

/** An environment in which `roadbook` is the executable. */
async function shellEnvironment(): Promise<Record<string, string>> {
  const folder = temporaryFolder();
  symlinkSync(await executable(), join(folder, "roadbook"));
  return { HOME: folder, PATH: `${folder}:${process.env.PATH}` };
}

const equalsSign: typeof cases = [
  // Bash gives the equals sign as a word of its own.
  [["serve", "--log-level", "=", "wa"], ["warn"]],
  [
    ["serve", "--language", "="],
    ["en", "de"],
  ],
];

testWith("bash").each([...cases, ...equalsSign])(
  "bash completes %j to %j",
  async (typed, found) => {
    const program = `source "$0"; COMP_WORDS=(roadbook "$@"); COMP_CWORD=$#; _roadbook; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const command = ["bash", "--norc", "-c", program, await writeScript("bash"), ...typed];
    const { stdout } = await run(command, { cwd: folderOfFiles(), env: await shellEnvironment() });
    expect(stdout.split("\n").filter(Boolean).sort()).toEqual([...found].sort());
  },
);

const oneWord: typeof cases = [
  [["serve", "--log-level=wa"], ["--log-level=warn"]],
  [["--snapshot=one."], ["--snapshot=one.snapshot"]],
];

testWith("fish").each([...cases, ...oneWord])("fish completes %j to %j", async (typed, found) => {
  const line = ["roadbook", ...typed].join(" ");
  const program = `source ${await writeScript("fish")}; complete -C ${JSON.stringify(line)}`;
  const { stdout } = await run(["fish", "--no-config", "-c", program], {
    cwd: folderOfFiles(),
    env: await shellEnvironment(),
  });
  const words = stdout.split("\n").flatMap((entry) => entry.split("\t")[0] || []);
  expect(words.map((word) => word.replace(/\/$/, "")).sort()).toEqual([...found].sort());
});

test.each([
  [["tcsh"], "bash, zsh, fish"],
  [[], "SHELL is missing"],
])("completion %j is wrong usage", async (words, message) => {
  const { code, stdout, stderr } = await roadbook(["completion", ...words]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(message);
});

describe("the manual page", () => {
  const page = formatManPage(new Date(0));

  test("has each command, flag and variable", () => {
    for (const command of commands) {
      expect(page).toContain(`.SS "roadbook ${command.name()}`);
      for (const option of command.options) {
        expect(page).toContain(option.long?.replaceAll("-", "\\-") ?? "");
        expect(page).toContain(`.B ${variableOf(option)}\n`);
      }
    }
  });

  testWith("mandoc")("is read without a warning", async () => {
    const file = join(temporaryFolder(), "roadbook.1");
    writeFileSync(file, page);
    const outcome = await run(["mandoc", "-T", "lint", "-W", "warning", file]);
    expect(outcome).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });
});
