/**
 * Completes the declared commands: environment variables set flags, and errors name the invalid
 * flag or variable. The environment is passed in as an argument.
 */
import type { CommandUnknownOpts as AnyCommand } from "@commander-js/extra-typings";
import { UsageError } from "../options.ts";
import { type Parser, parseBoolean, parseNonEmpty, parseText } from "./values.ts";

export type Environment = Record<string, string | undefined>;
type AnyOption = AnyCommand["options"][number];

/** Returns the name of the environment variable that sets a flag. */
export function variableOf(option: { name(): string }): string {
  return `ROADBOOK_${option.name().toUpperCase().replaceAll("-", "_")}`;
}

/** Lists the variables that look like settings but match no flag, most likely because of a typo. */
export function listUnknownVariables(program: AnyCommand, env: Environment): string[] {
  const known = new Set(program.commands.flatMap(({ options }) => options.map(variableOf)));
  // Takes the place of an argument.
  known.add("ROADBOOK_DATABASE");
  return Object.keys(env).filter((name) => name.startsWith("ROADBOOK_") && !known.has(name));
}

/**
 * Completes a command's declaration. A flag or argument without a parser accepts any text.
 * Commander's own `env` is unsuitable: it treats any value of a boolean variable as true, and an
 * invalid value breaks even `--help`.
 */
export function completeDeclaration(command: AnyCommand, env: Environment): void {
  for (const argument of command.registeredArguments) {
    argument.argParser(nameInErrors(argument.name(), argument.parseArg ?? parseNonEmpty));
  }
  const mandatory = command.options.filter((option) => option.mandatory);
  for (const option of [...command.options]) {
    // Otherwise, if `--to` is misspelt, Commander would report only that `--to` is missing.
    option.mandatory = false;
    const parseFlag = (text: string) => parseBoolean(text) !== option.negate;
    const parse = option.parseArg ?? (option.required ? parseText : parseFlag);
    if (option.required) option.argParser(nameInErrors(`--${option.name()}`, parse));
    command.hook("preAction", () => setFromVariable(command, option, env, parse));
  }
  command.hook("preAction", () => {
    const missing = mandatory.find((one) => !command.getOptionValueSource(one.attributeName()));
    if (missing) throw new UsageError(`${missing.long} is missing; ${usageOf(command)}`);
  });
}

export function usageOf(command: AnyCommand): string {
  return `usage: roadbook ${command.name()} ${command.usage()}`.trimEnd();
}

/** Sets an option from its variable, unless its flag is given. */
function setFromVariable(
  command: AnyCommand,
  option: AnyOption,
  env: Environment,
  parse: Parser<unknown>,
): void {
  const key = option.attributeName();
  const variable = variableOf(option);
  const text = env[variable];
  if (text === undefined || command.getOptionValueSource(key) === "cli") return;
  const value = nameInErrors(variable, parse)(text, option.defaultValue);
  command.setOptionValueWithSource(key, value, "env");
}

/**
 * Adds the name of a flag or variable to its parser's errors. An empty value is an error and never
 * means the default, because an empty host would listen on every address.
 */
function nameInErrors(name: string, parse: Parser<unknown>): Parser<unknown> {
  return (text, previous) => {
    try {
      return parse(text, previous);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const { value = text, message, hint, isSecret } = error;
      if (value === "") throw new UsageError(`${name} must not be empty`);
      const advice = hint === undefined ? "" : `; ${hint}`;
      const got = isSecret ? "" : `, got ${JSON.stringify(value)}`;
      throw new UsageError(`${name} ${message}${got}${advice}`);
    }
  };
}
