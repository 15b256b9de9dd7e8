/**
 * What flags and arguments do that commander's do not: they name themselves and the value in an error,
 * and environment variables complete them. Given the environment; never reads it.
 */
import type {
  CommandUnknownOpts as AnyCommand,
  Command as TypedCommand,
} from "@commander-js/extra-typings";
import { Argument, Command, Option } from "commander";
import { InvalidValue, type Parser, parseBoolean, UsageError } from "./values.ts";

export type Environment = Record<string, string | undefined>;

/** A command whose flags and arguments, and those of its subcommands, are the ones of this file. */
export function createCommand(name: string): TypedCommand {
  return new RoadbookCommand(name) as unknown as TypedCommand;
}

class RoadbookCommand extends Command {
  override createCommand = (name?: string) => new RoadbookCommand(name);
  override createOption = (flags: string, description?: string) => new Flag(flags, description);
  override createArgument = (name: string, description?: string) =>
    new Positional(name, description);
}

class Flag extends Option {
  parse: Parser<unknown> | undefined;
  /** Not `mandatory`: commander would look for it before it finds `--too FILE` misspelt. */
  isRequired = false;

  override makeOptionMandatory(isRequired = true): this {
    this.isRequired = isRequired;
    return this;
  }

  override argParser<T>(parse: Parser<T>): this {
    this.parse = parse as Parser<unknown>;
    if (parse.choices) this.argChoices = [...parse.choices];
    if (/^(?:number|string)$/.test(typeof this.defaultValue)) {
      this.defaultValueDescription = (parse.format ?? String)(this.defaultValue);
    }
    return super.argParser<T>((text, previous) =>
      readValue(`--${this.name()}`, text, (value) => parse(value, previous)),
    );
  }
}

class Positional extends Argument {
  override argParser<T>(parse: Parser<T>): this {
    if (parse.choices) this.argChoices = [...parse.choices];
    return super.argParser<T>((text, previous) =>
      readValue(this.name(), text, (value) => parse(value, previous)),
    );
  }
}

/** What is set to nothing is never the default: an empty host would listen on every address. */
function readValue<T>(name: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const { value = text, message } = error;
    const wrong = value === "" ? "empty" : `${JSON.stringify(value)}, not ${message}`;
    throw new UsageError(`${name} is ${wrong}`);
  }
}

/** The environment variable that stands for a flag. */
export function variableOf(option: Pick<Option, "name">): string {
  return `ROADBOOK_${option.name().toUpperCase().replaceAll("-", "_")}`;
}

export function requireMandatory(command: AnyCommand): void {
  for (const flag of flagsOf(command)) {
    if (!flag.isRequired || command.getOptionValue(flag.attributeName()) !== undefined) continue;
    throw new UsageError(`--${flag.name()} is missing; ${usageOf(command)}`);
  }
}

/**
 * Gives flags that the command line does not set the values of their variables. Commander's own
 * `env` takes any value of a boolean for true, and fails on a bad one where only help is wanted.
 */
export function completeFromEnvironment(command: AnyCommand, env: Environment): void {
  for (const flag of flagsOf(command)) {
    const [key, variable] = [flag.attributeName(), variableOf(flag)];
    const text = env[variable];
    if (text === undefined || command.getOptionValueSource(key) === "cli") continue;
    const value = readValue(variable, text, (value) =>
      flag.parse ? flag.parse(value, flag.defaultValue) : parseBoolean(value) !== flag.negate,
    );
    command.setOptionValueWithSource(key, value, "env");
  }
}

function flagsOf(command: AnyCommand): readonly Flag[] {
  return command.options as readonly Option[] as readonly Flag[];
}

/** The variables that look like settings and are none, misspelt most likely. */
export function listUnknownVariables(program: AnyCommand, env: Environment): string[] {
  const known = new Set(program.commands.flatMap(({ options }) => options.map(variableOf)));
  return Object.keys(env).filter((name) => name.startsWith("ROADBOOK_") && !known.has(name));
}

export function usageOf(command: AnyCommand): string {
  return `usage: roadbook ${command.name()} ${command.usage()}`.trimEnd();
}
