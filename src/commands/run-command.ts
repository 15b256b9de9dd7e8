/** Reads the arguments, flags and variables of a command, and runs it. */
import { suggest } from "../domain/invalid-value.ts";
import { parseBoolean } from "../settings/kinds.ts";
import {
  exitCodeOf,
  isFlag,
  readValue,
  type Settings,
  UsageError,
  usageOf,
  variableOf,
} from "../settings/setting.ts";
import type { Command } from "./command.ts";
import { commands } from "./commands.ts";

/** Runs a command, or prints its help. */
export async function runCommand(name: string, args: string[]): Promise<void> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!entry) {
    const advice = suggest(name, Object.keys(commands), "; see roadbook --help");
    throw new UsageError(`unknown command "${name}"${advice}`);
  }

  const command = await entry.load();
  const isHelp = args.some((text) => text === "-h" || text === "--help");
  if (isHelp || (args.length === 1 && args[0] === "help")) {
    const { formatCommandHelp } = await import("./help.ts");
    return console.log(formatCommandHelp(name, { summary: entry.summary, ...command }));
  }

  try {
    await command.run(readValues(name, command, args), commands);
  } catch (error) {
    if (!wantsJson(command, args)) throw error;
    console.log(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
    process.exitCode = exitCodeOf(error);
  }
}

/** Whether errors must be in JSON. The arguments may be wrong, so they cannot be parsed. */
function wantsJson({ settings: { json } }: Command, args: string[]): boolean {
  if (!json) return false;
  const variable = process.env[variableOf(json) ?? ""] ?? "";
  return args.includes(json.name) || parseBoolean(variable) === true;
}

function readValues(name: string, { settings }: Command, args: string[]) {
  const usage = `usage: roadbook ${usageOf(name, settings)}`;
  const texts = readArguments(name, settings, args, usage);

  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(settings)) {
    values[key] = readValue(setting, texts.get(setting.name), process.env);
  }

  for (const [key, setting] of Object.entries(settings)) {
    const isWaived = setting.waivedBy !== undefined && values[setting.waivedBy] === true;
    if (!setting.required || isWaived || values[key] !== undefined) continue;
    throw new UsageError(`${setting.name} is missing; ${usage}`);
  }
  return values;
}

/**
 * Returns the texts given for each flag and argument. No error repeats the value of an unknown flag,
 * which may be a secret. Node's `parseArgs` would take 2 ms of the start.
 */
function readArguments(name: string, settings: Settings, args: string[], usage: string) {
  const all = Object.values(settings);
  const expected = all.filter((setting) => !isFlag(setting));
  const flags = new Map(all.filter(isFlag).map((flag) => [flag.name, flag]));
  const texts = new Map<string, string[]>();
  const add = (name: string, text: string) => {
    const given = texts.get(name);
    if (given) given.push(text);
    else texts.set(name, [text]);
  };

  const rest = args.values();
  let hasEnded = false;
  for (const text of rest) {
    if (text === "--" && !hasEnded) {
      hasEnded = true;
      continue;
    }

    const [, flag, inline] = /^(-[^-]|--[^=]*)(?:=(.*))?/s.exec(hasEnded ? "" : text) ?? [];
    if (flag === undefined) {
      const argument = expected[0]?.list ? expected[0] : expected.shift();
      if (!argument) throw new UsageError(`too many arguments; ${usage}`);
      add(argument.name, text);
      continue;
    }

    const setting = flags.get(flag);
    if (!setting) {
      const advice = suggest(flag, [...flags.keys(), "--help"], `; see roadbook ${name} --help`);
      throw new UsageError(`unknown flag ${flag}${advice}`);
    }

    if (setting.kind.isSwitch) {
      if (inline !== undefined) throw new UsageError(`${flag} takes no value`);
      add(flag, "1");
      continue;
    }

    const value = inline ?? rest.next().value;
    // The next flag was most likely not meant as the value.
    if (value === undefined || (value.startsWith("--") && inline === undefined)) {
      throw new UsageError(`${flag} needs a value; see roadbook ${name} --help`);
    }
    add(flag, value);
  }
  return texts;
}
