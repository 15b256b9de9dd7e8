/** Lists the commands. Runs the one that a command line names, or prints the version or the help. */
import { version } from "../domain/version.ts";
import type { Commands, LoadedCommand } from "./command.ts";

/** The file of a command is loaded only if it is needed, so that `--version` and `health` start fast. */
const commands: Commands = {
  serve: {
    summary: "start the server (the default command)",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  import: {
    summary: "build a snapshot from NDJSON (plain or gzip), CSV files or a database",
    load: async () => (await import("./import.ts")).importCommand,
  },
  apply: {
    summary: "apply a change file to a snapshot",
    load: async () => (await import("./apply-hide.ts")).applyCommand,
  },
  hide: {
    summary: "make users private",
    load: async () => (await import("./apply-hide.ts")).hideCommand,
  },
  export: {
    summary: "export the data of a snapshot as a dataset",
    load: async () => (await import("./export-seed.ts")).exportCommand,
  },
  check: {
    summary: "verify a snapshot and report any damage",
    load: async () => (await import("./check.ts")).checkCommand,
  },
  seed: {
    summary: "generate a made-up dataset",
    load: async () => (await import("./export-seed.ts")).seedCommand,
  },
  schema: {
    summary: "print the JSON Schema for dataset lines",
    load: async () => (await import("./documents.ts")).schemaCommand,
  },
  openapi: {
    summary: "print the OpenAPI document for the API",
    load: async () => (await import("./documents.ts")).openapiCommand,
  },
  licences: {
    summary: "print the licences of all parts of this program",
    load: async () => (await import("./documents.ts")).licencesCommand,
  },
  health: {
    summary: "check whether a running server is healthy",
    load: async () => (await import("./health.ts")).healthCommand,
  },
  completion: {
    summary: "print the completion script of a shell",
    load: async () => (await import("./completion.ts")).completionCommand,
  },
};

/** Loads the declarations of all commands. */
export async function loadCommands(): Promise<Record<string, LoadedCommand>> {
  const all = Object.entries(commands).map(async ([name, { summary, load }]) => {
    return [name, { summary, ...(await load()) }];
  });
  return Object.fromEntries(await Promise.all(all));
}

/** Rejects with a {@link UsageError} or with the command's own error, unless it is in JSON. */
export async function runCommandLine(argv: string[]): Promise<void> {
  const [first = "serve", second = ""] = argv;
  if (/^(?:--version|version|-V)$/.test(first)) {
    console.log(`roadbook ${version}`);
    return;
  }
  if (first === "help" && !/^(-|help$|$)/.test(second)) return run(second, ["--help"]);
  if (/^(-h|--help|help)$/.test(first)) {
    const { formatProgramHelp } = await import("./help.ts");
    return console.log(formatProgramHelp(commands));
  }
  if (first.startsWith("-") || (await isPath(first))) return run("serve", argv);
  return run(first, argv.slice(1));
}

/** Whether the first word is a file to serve. No command has a dot or a slash in its name. */
async function isPath(word: string): Promise<boolean> {
  if (Object.hasOwn(commands, word)) return false;
  const { existsSync } = await import("node:fs");
  return /[./\\]/.test(word) || existsSync(word);
}

async function run(name: string, args: string[]): Promise<void> {
  const { runCommand } = await import("./run-command.ts");
  await runCommand(name, args, commands);
}
