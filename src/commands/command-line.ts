/** Parses a command line and the variables of its command, and runs the command. */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { suggest } from "../domain/suggest.ts";
import { version } from "../domain/version.ts";
import { isFlag, termOf, variableOf } from "../settings/declare.ts";
import { readValue } from "../settings/flag-or-variable.ts";
import { parseBoolean } from "../settings/kinds.ts";
import { UsageError } from "../settings/usage-error.ts";
import { type Command, commands } from "./commands.ts";
import { formatCommandHelp, formatProgramHelp, usageOf, writeHelp } from "./help.ts";
import { toLine, writeStdout } from "./stdout.ts";

/** Rejects with a {@link UsageError} or with the command's own error, unless it is in JSON. */
export async function runCommandLine(argv: string[]): Promise<void> {
  const [first = "serve", second = ""] = argv;
  if (/^(?:--version|version|-V)$/.test(first)) {
    writeStdout(`roadbook ${version}\n`);
    return;
  }
  if (first === "help" && !/^(-|help$|$)/.test(second)) return run(second, ["--help"]);
  if (/^(-h|--help|help)$/.test(first)) return writeHelp(formatProgramHelp());
  if (first.startsWith("-")) return run("serve", argv);
  if (isPath(first)) return run("serve", ["--snapshot", ...argv]);
  if (first === "serve" && !/^(?:-|help$|$)/.test(second)) {
    return run("serve", ["--snapshot", ...argv.slice(1)]);
  }
  return run(first, argv.slice(1));
}

/** Whether the first word is a file to serve. No command has a dot or a slash in its name. */
function isPath(word: string): boolean {
  return !Object.hasOwn(commands, word) && (/[./\\]/.test(word) || existsSync(word));
}

async function run(name: string, args: string[]): Promise<void> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const advice = suggest(name, Object.keys(commands), "; see roadbook --help");
    throw new UsageError(`unknown command "${name}"${advice}`);
  }
  const isHelp = args.some((text) => text === "-h" || text === "--help");
  if (isHelp || (args.length === 1 && args[0] === "help")) {
    return writeHelp(formatCommandHelp(name, command));
  }
  try {
    await runWith(name, command, args);
  } catch (error) {
    if (!wantsJson(command, args)) throw error;
    writeStdout(toLine({ error: error instanceof Error ? error.message : String(error) }));
    process.exitCode = exitCodeOf(error);
  }
}

/** Whether errors must be in JSON. The arguments may be wrong, so they cannot be parsed. */
function wantsJson({ settings: { json } }: Command, args: string[]): boolean {
  if (!json) return false;
  const variable = process.env[variableOf(json) ?? ""] ?? "";
  return args.includes(termOf(json)) || parseBoolean(variable) === true;
}

/** 2 for incorrect usage, or else 1. */
export function exitCodeOf(error: unknown): number {
  return error instanceof UsageError ? 2 : 1;
}

async function runWith(name: string, command: Command, args: string[]): Promise<void> {
  const usage = () => `usage: roadbook ${usageOf(name, command)}`;
  const texts = readArguments(name, command, args, usage);

  const settings = Object.entries(command.settings);
  const values = Object.fromEntries(
    settings.map(([key, setting]) => {
      return [key, readValue(setting, texts.get(termOf(setting)), process.env)];
    }),
  );

  for (const [key, setting] of settings) {
    const isWaived = setting.waivedBy !== undefined && values[setting.waivedBy] === true;
    if (!setting.required || isWaived || values[key] !== undefined) continue;
    throw new UsageError(`${termOf(setting)} is missing; ${usage()}`);
  }

  await command.run(values);
}

/** No error repeats the value of an unknown flag, which may be a secret. */
function readArguments(name: string, { settings }: Command, args: string[], usage: () => string) {
  const all = Object.values(settings);
  const expected = all.filter((setting) => !isFlag(setting));
  const flags = new Map(all.filter(isFlag).map((setting) => [termOf(setting), setting]));

  const types = [...flags].map(([term, { kind }]) => {
    return [term.slice(2), { type: kind.isSwitch ? "boolean" : "string" }];
  });
  const options = Object.fromEntries(types);

  const texts = new Map<string, string[]>();
  const add = (term: string, text: string) => {
    const given = texts.get(term);
    if (given) given.push(text);
    else texts.set(term, [text]);
  };
  for (const token of parseArgs({ args, options, strict: false, tokens: true }).tokens) {
    if (token.kind === "positional") {
      const argument = expected[0]?.list ? expected[0] : expected.shift();
      if (!argument) throw new UsageError(`too many arguments; ${usage()}`);
      add(termOf(argument), token.value);
    }
    if (token.kind !== "option") continue;

    const { rawName, value, inlineValue } = token;
    const setting = flags.get(rawName);
    if (!setting) {
      const advice = suggest(rawName, [...flags.keys(), "--help"], `; see roadbook ${name} --help`);
      throw new UsageError(`unknown flag ${rawName}${advice}`);
    }

    const { isSwitch } = setting.kind;
    if (isSwitch && inlineValue) throw new UsageError(`${rawName} takes no value`);
    // The next flag was most likely not meant as the value.
    if (!isSwitch && (value === undefined || (value.startsWith("--") && !inlineValue))) {
      throw new UsageError(`${rawName} needs a value; see roadbook ${name} --help`);
    }

    add(rawName, value ?? "1");
  }

  return texts;
}
