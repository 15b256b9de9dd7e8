/**
 * Gives flags their values from environment variables, and has errors name the flag or the variable
 * whose value is wrong. Given the environment; never reads it.
 */
import type { CommandUnknownOpts as AnyCommand } from "@commander-js/extra-typings";
import { InvalidValue } from "../options.ts";
import { type Parser, parseBoolean, parseNonEmpty, parseText, UsageError } from "./values.ts";

export type Environment = Record<string, string | undefined>;

/** The environment variable that stands for a flag. */
export function variableOf(option: { name(): string }): string {
  return `ROADBOOK_${option.name().toUpperCase().replaceAll("-", "_")}`;
}

/** The variables that look like settings but are not: most likely misspelt. */
export function listUnknownVariables(program: AnyCommand, env: Environment): string[] {
  const known = new Set(program.commands.flatMap(({ options }) => options.map(variableOf)));
  return Object.keys(env).filter((name) => name.startsWith("ROADBOOK_") && !known.has(name));
}

/**
 * Completes what a command has declared: a flag or an argument without a parser takes any text,
 * errors name it, and a variable stands for a flag that is not given. Commander's own `env` takes any
 * value of a boolean for true, and fails on a bad one where only help is wanted.
 */
export function completeDeclaration(command: AnyCommand, env: Environment): void {
  for (const argument of command.registeredArguments) {
    argument.argParser(nameInErrors(argument.name(), argument.parseArg ?? parseNonEmpty));
  }
  const mandatory = command.options.filter((option) => option.mandatory);
  for (const option of command.options) {
    // Otherwise Commander reports it as missing before it reports that `--too` is misspelt.
    option.mandatory = false;
    const [key, variable] = [option.attributeName(), variableOf(option)];
    const parseFlag = (text: string) => parseBoolean(text) !== option.negate;
    const parse = option.parseArg ?? (option.required ? parseText : parseFlag);
    if (option.required) option.argParser(nameInErrors(`--${option.name()}`, parse));
    command.hook("preAction", () => {
      const text = env[variable];
      if (text === undefined || command.getOptionValueSource(key) === "cli") return;
      const value = nameInErrors(variable, parse)(text, option.defaultValue);
      command.setOptionValueWithSource(key, value, "env");
    });
  }
  command.hook("preAction", () => {
    const missing = mandatory.find((one) => !command.getOptionValueSource(one.attributeName()));
    if (missing) throw new UsageError(`${missing.long} is missing; ${usageOf(command)}`);
  });
}

export function usageOf(command: AnyCommand): string {
  return `usage: roadbook ${command.name()} ${command.usage()}`.trimEnd();
}

/** An empty value never means the default: an empty host would listen on every address. */
function nameInErrors(name: string, parse: Parser<unknown>): Parser<unknown> {
  return (text, previous) => {
    try {
      return parse(text, previous);
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      const { value = text, message } = error;
      const wrong = value === "" ? "empty" : `${JSON.stringify(value)}, not ${message}`;
      throw new UsageError(`${name} is ${wrong}`);
    }
  };
}
