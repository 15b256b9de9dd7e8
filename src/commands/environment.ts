/**
 * Completes the declared commands: environment variables set flags, former flag names keep working,
 * and errors name the invalid flag or variable. The environment is passed in as an argument.
 */
import { type CommandUnknownOpts as AnyCommand, Option } from "@commander-js/extra-typings";
import { InvalidValue } from "../options.ts";
import { type Parser, parseBoolean, parseNonEmpty, parseText, UsageError } from "./values.ts";

export type Environment = Record<string, string | undefined>;
type AnyOption = AnyCommand["options"][number];

/** Maps current flag names to former names, which still work but are hidden from the help. */
const formerNames: Record<string, string> = {
  "allow-indexing": "index",
  "shutdown-timeout": "grace",
};

/** Returns the name of the environment variable that sets a flag. */
export function variableOf(option: { name(): string }): string {
  return `ROADBOOK_${option.name().toUpperCase().replaceAll("-", "_")}`;
}

/** Lists the variables that look like settings but match no flag, most likely because of a typo. */
export function listUnknownVariables(program: AnyCommand, env: Environment): string[] {
  const known = new Set(program.commands.flatMap(({ options }) => options.map(variableOf)));
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
    const names = [option, ...addFormerName(command, option)];
    for (const name of names) {
      if (option.required) name.argParser(nameInErrors(`--${name.name()}`, parse));
    }
    command.hook("preAction", () => setOption(command, names, env, parse));
  }
  command.hook("preAction", () => {
    const missing = mandatory.find((one) => !command.getOptionValueSource(one.attributeName()));
    if (missing) throw new UsageError(`${missing.long} is missing; ${usageOf(command)}`);
  });
}

export function usageOf(command: AnyCommand): string {
  return `usage: roadbook ${command.name()} ${command.usage()}`.trimEnd();
}

/** Declares the former name of a flag, if the flag has one. */
function addFormerName(command: AnyCommand, option: AnyOption): AnyOption[] {
  const formerName = formerNames[option.name()];
  if (formerName === undefined) return [];
  const former = new Option(option.flags.replace(option.name(), formerName)).hideHelp();
  command.addOption(former);
  return [former];
}

/**
 * Sets an option from its flag or variable, under its current or former name. A flag overrides all
 * variables, even invalid ones. The variable with the current name overrides the variable with the
 * former name.
 */
function setOption(
  command: AnyCommand,
  names: AnyOption[],
  env: Environment,
  parse: Parser<unknown>,
): void {
  const [option] = names;
  if (!option) return;
  const key = option.attributeName();
  const isGiven = (name: AnyOption) => command.getOptionValueSource(name.attributeName()) === "cli";
  const [flag, other] = names.filter(isGiven);
  if (flag && other) {
    throw new UsageError(`${other.long} is the old name of ${flag.long}; use only ${flag.long}`);
  }
  if (flag) {
    command.setOptionValueWithSource(key, command.getOptionValue(flag.attributeName()), "cli");
    return;
  }
  const variable = names.map(variableOf).find((name) => env[name] !== undefined);
  if (variable === undefined) return;
  const value = nameInErrors(variable, parse)(env[variable] ?? "", option.defaultValue);
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
      if (!(error instanceof InvalidValue)) throw error;
      const { value = text, message, hint } = error;
      if (value === "") throw new UsageError(`${name} must not be empty`);
      const advice = hint === undefined ? "" : `; ${hint}`;
      throw new UsageError(`${name} ${message}, got ${JSON.stringify(value)}${advice}`);
    }
  };
}
