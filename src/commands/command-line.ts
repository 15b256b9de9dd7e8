/**
 * Lists the commands, and runs the one that a command line names: reads its arguments, flags and
 * variables, or prints its help or the version.
 */
import { suggest, UsageError } from "../domain/invalid-value.ts";
import { version } from "../domain/version.ts";
import { describeError } from "../files/errors.ts";
import {
  exitCodeOf,
  isFlag,
  readValue,
  type Settings,
  usageOf,
  variableOf,
} from "../settings/setting.ts";
import { parseBoolean } from "../settings/value-types.ts";
import type { Command, Commands, LoadedCommand } from "./command.ts";

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
    load: async () => (await import("./apply.ts")).applyCommand,
  },
  hide: {
    summary: "make users private",
    load: async () => (await import("./hide.ts")).hideCommand,
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

/** Runs a command, or prints its help. */
async function run(name: string, args: string[]): Promise<void> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!entry) {
    const advice = suggest(name, Object.keys(commands), "; see roadbook --help");
    throw new UsageError(`unknown command "${name}"${advice}`);
  }

  const command = await entry.load();
  const words = splitWords(command.settings, args);
  if (hasSwitch(words, "-h", "--help") || (args.length === 1 && args[0] === "help")) {
    const { formatCommandHelp } = await import("./help.ts");
    return console.log(formatCommandHelp(name, { summary: entry.summary, ...command }));
  }

  try {
    await command.run(readValues(name, command, words), commands);
  } catch (error) {
    if (!wantsJson(command, words)) throw error;
    console.log(JSON.stringify({ error: describeError(error) }));
    process.exitCode = exitCodeOf(error);
  }
}

/** A flag with its value, if it has one, or an argument. */
interface Word {
  flag: string | undefined;
  text: string | undefined;
}

/**
 * Finds the flags, even if some words are wrong, because then `--help` and `--json` work, too. Node's
 * `parseArgs` reads the next flag as a value, and `-hX` as `-h -X`: undoing both takes as much code.
 */
function splitWords(settings: Settings, args: string[]): Word[] {
  const valued = Object.values(settings).filter((setting) => !setting.type.isSwitch);
  const names = new Set(valued.map(({ name }) => name));
  const words: Word[] = [];
  const left = [...args];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === "--") return [...words, ...left.map((text) => ({ flag: undefined, text }))];

    const [, flag, rest = ""] = /^(-[^-]|--[^=]*)(.*)/s.exec(word) ?? [];
    if (flag === undefined) words.push({ flag, text: word });
    else if (rest !== "") words.push({ flag, text: rest.replace(/^=/, "") });
    else {
      // The next flag was most likely not meant as the value.
      const isFollowed = names.has(flag) && !left[0]?.startsWith("--");
      words.push({ flag, text: isFollowed ? left.shift() : undefined });
    }
  }
  return words;
}

/** Whether one of these flags is given, and without a value. */
function hasSwitch(words: Word[], ...flags: string[]): boolean {
  return words.some(({ flag = "", text }) => flags.includes(flag) && text === undefined);
}

/** Whether errors must be in JSON. */
function wantsJson({ settings: { json } }: Command, words: Word[]): boolean {
  if (!json) return false;
  const variable = variableOf(json);
  const text = variable && process.env[variable];
  return hasSwitch(words, json.name) || parseBoolean(text ?? "") === true;
}

function readValues(name: string, { settings }: Command, words: Word[]) {
  const usage = `usage: roadbook ${usageOf(name, settings)}`;
  const texts = readArguments(name, settings, words, usage);

  const replaced = new Set<string>();
  for (const { name, replaces = [] } of Object.values(settings)) {
    if (!texts.has(name)) continue;
    const other = replaces.find((flag) => texts.has(flag));
    if (other) throw new UsageError(`${name} and ${other} are mutually exclusive`);
    for (const flag of replaces) replaced.add(flag);
  }

  const values: Record<string, unknown> = {};
  for (const [property, setting] of Object.entries(settings)) {
    const inputs = texts.get(setting.name)?.map(({ text }) => text);
    const env = replaced.has(setting.name) ? {} : process.env;
    values[property] = readValue(setting, inputs, env);
  }

  for (const [property, setting] of Object.entries(settings)) {
    const isWaived = setting.waivedBy !== undefined && values[setting.waivedBy] === true;
    if (!setting.required || isWaived || values[property] !== undefined) continue;
    throw new UsageError(`${setting.name} is missing; ${usage}`);
  }
  return values;
}

/**
 * Returns the texts given for each flag and argument. No error repeats the value of an unknown flag,
 * which may be a secret.
 */
function readArguments(name: string, settings: Settings, words: Word[], usage: string) {
  const all = Object.values(settings);
  const expected = all.filter((setting) => !isFlag(setting));
  const flags = new Map(all.filter(isFlag).map((flag) => [flag.name, flag]));
  const found = words.map(({ flag, text }) => {
    if (flag === undefined) {
      const argument = expected[0]?.list ? expected[0] : expected.shift();
      if (!argument) throw new UsageError(`too many arguments; ${usage}`);
      return { name: argument.name, text: text ?? "" };
    }

    const setting = flags.get(flag);
    if (!setting) {
      const advice = suggest(flag, [...flags.keys(), "--help"], `; see roadbook ${name} --help`);
      throw new UsageError(`unknown flag ${flag}${advice}`);
    }

    if (setting.type.isSwitch) {
      if (text !== undefined) throw new UsageError(`${flag} takes no value`);
      return { name: flag, text: "1" };
    }
    if (text !== undefined) return { name: flag, text };
    throw new UsageError(`${flag} needs a value; see roadbook ${name} --help`);
  });
  return Map.groupBy(found, ({ name }) => name);
}
