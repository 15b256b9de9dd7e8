/**
 * The kinds of flags and arguments that a command is declared with, and how environment variables
 * complete them. Given the environment; never reads it.
 */
import {
  type CommandUnknownOpts as AnyCommand,
  Argument,
  Option,
} from "@commander-js/extra-typings";
import { InvalidValue, type Parser, parseBoolean, UsageError } from "./values.ts";

export type Environment = Record<string, string | undefined>;

/** The environment variable that stands for a flag. */
export function variableOf(option: Pick<Option, "name">): string {
  return `ROADBOOK_${option.name().toUpperCase().replaceAll("-", "_")}`;
}

/** A flag with a value; `defaultText` is its default as an operator would write it. */
export function flag<Flags extends string, T>(
  flags: Flags,
  description: string,
  parse: Parser<T>,
): Option<Flags, undefined, undefined, T>;
export function flag<Flags extends string, T>(
  flags: Flags,
  description: string,
  parse: Parser<T>,
  defaultText: string,
): Option<Flags, undefined, T, T>;
export function flag<T>(
  flags: string,
  description: string,
  parse: Parser<T>,
  defaultText?: string,
) {
  const option = new Option(flags, description);
  if (parse.choices) option.argChoices = [...parse.choices];
  option.argParser((text: string) => readValue(`--${option.name()}`, text, parse));
  return defaultText === undefined ? option : option.default(parse(defaultText), defaultText);
}

/** A flag that may be given more than once, or hold several values between separators. */
export function list<Flags extends string, T>(
  flags: Flags,
  description: string,
  parse: (text: string) => T,
  separator = ",",
): Option<Flags, undefined, T[], T[]> {
  const option = new Option(flags, description).default([] as T[]);
  return option.argParser((text: string, previous: T[]) => {
    const parts = text.split(separator).map((part) => part.trim());
    return [...previous, ...parts.map((part) => readValue(`--${option.name()}`, part, parse))];
  }) as Option<Flags, undefined, T[], T[]>;
}

/** A flag without a value: it is on when it is given; `--no-page` turns `page` off. */
export function toggle<Flags extends string>(flags: Flags, description: string) {
  return new Option(flags, description).default<boolean>(flags.startsWith("--no-"));
}

export function argument<Name extends string, Value extends string = string>(
  name: Name,
  description: string,
  parse: Parser<Value> = (text) => text as Value,
): Argument<Name, undefined, Value> {
  const declared = new Argument(name, description);
  if (parse.choices) declared.argChoices = [...parse.choices];
  return declared.argParser((text: string) => readValue(declared.name(), text, parse));
}

/** What is set to nothing is never the default: an empty host would listen on every address. */
function readValue<T>(name: string, text: string, parse: (text: string) => T): T {
  if (text === "") throw new UsageError(`${name} is empty`);
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new UsageError(`${name} is ${JSON.stringify(text)}, not ${error.message}`);
  }
}

const mandatoryOptions = new WeakSet<object>();

/**
 * A flag that must be given. Commander's own check comes before that of misspelt flags, and would
 * report `--too FILE` as "--to is missing".
 */
export function mandatory<Flags extends string, T>(option: Option<Flags, undefined, undefined, T>) {
  mandatoryOptions.add(option);
  return option as Option<Flags, undefined, undefined, T, true>;
}

export function requireMandatory(command: AnyCommand): void {
  for (const option of command.options) {
    if (!mandatoryOptions.has(option)) continue;
    if (command.getOptionValue(option.attributeName()) !== undefined) continue;
    throw new UsageError(`--${option.name()} is missing; ${usageOf(command)}`);
  }
}

/**
 * Gives flags that the command line does not set the values of their variables. Commander's own
 * `env` takes any value of a boolean for true, and fails on a bad one where only help is wanted.
 */
export function completeFromEnvironment(command: AnyCommand, env: Environment): void {
  for (const option of command.options) {
    const [key, variable] = [option.attributeName(), variableOf(option)];
    const text = env[variable];
    if (text === undefined || command.getOptionValueSource(key) === "cli") continue;
    command.setOptionValueWithSource(key, parseVariable(option, variable, text), "env");
  }
}

function parseVariable(option: AnyCommand["options"][number], variable: string, text: string) {
  if (option.isBoolean()) return readValue(variable, text, parseBoolean);
  if (option.negate) return !readValue(variable, text, parseBoolean);
  try {
    return option.parseArg?.(text, option.defaultValue);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(error.message.replace(`--${option.name()}`, variable));
  }
}

/** The variables that look like settings and are none, misspelt most likely. */
export function listUnknownVariables(program: AnyCommand, env: Environment): string[] {
  const known = new Set(program.commands.flatMap(({ options }) => options.map(variableOf)));
  return Object.keys(env).filter((name) => name.startsWith("ROADBOOK_") && !known.has(name));
}

export function usageOf(command: AnyCommand): string {
  return `usage: roadbook ${command.name()} ${command.usage()}`.trimEnd();
}
