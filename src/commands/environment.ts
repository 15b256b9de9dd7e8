/**
 * Gives flags their values from environment variables, and has errors name the flag or the variable
 * whose value is wrong. Given the environment; never reads it.
 */
import type { CommandUnknownOpts as AnyCommand } from "@commander-js/extra-typings";
import { InvalidValue, type Parser, parseBoolean, UsageError } from "./values.ts";

export type Environment = Record<string, string | undefined>;

/** The environment variable that stands for a flag. */
export function variableOf(option: { name(): string }): string {
  return `ROADBOOK_${option.name().toUpperCase().replaceAll("-", "_")}`;
}

/** The variables that look like settings and are none, misspelt most likely. */
export function listUnknownVariables(program: AnyCommand, env: Environment): string[] {
  const known = new Set(program.commands.flatMap(({ options }) => options.map(variableOf)));
  return Object.keys(env).filter((name) => name.startsWith("ROADBOOK_") && !known.has(name));
}

/**
 * Has variables complete the flags of a command, all of which are declared. Commander's own `env`
 * takes any value of a boolean for true, and fails on a bad one where only help is wanted.
 */
export function completeFromEnvironment(command: AnyCommand, env: Environment): void {
  const required = command.options.filter(({ mandatory }) => mandatory);
  for (const argument of command.registeredArguments) nameInErrors(argument, argument.name());
  for (const option of command.options) {
    // Commander would miss it before it finds `--too FILE` misspelt.
    option.mandatory = false;
    const [key, variable] = [option.attributeName(), variableOf(option)];
    const parse = nameInErrors(option, `--${option.name()}`);
    command.hook("preAction", () => {
      const text = env[variable];
      if (text === undefined || command.getOptionValueSource(key) === "cli") return;
      const value = readValue(variable, text, () =>
        parse ? parse(text, option.defaultValue) : parseBoolean(text) !== option.negate,
      );
      command.setOptionValueWithSource(key, value, "env");
    });
  }
  command.hook("preAction", () => {
    const missing = required.find(
      (option) => !command.getOptionValueSource(option.attributeName()),
    );
    if (missing) throw new UsageError(`${missing.long} is missing; ${usageOf(command)}`);
  });
}

export function usageOf(command: AnyCommand): string {
  return `usage: roadbook ${command.name()} ${command.usage()}`.trimEnd();
}

/** Has the parser of a flag or an argument name it in errors; returns the one that does not. */
function nameInErrors(
  target: AnyCommand["options" | "registeredArguments"][number],
  name: string,
): (typeof target)["parseArg"] {
  const parse = target.parseArg;
  if (!parse) return undefined;
  const { choices }: Parser<unknown> = parse;
  if (choices) target.argChoices = [...choices];
  target.parseArg = (text, previous) => readValue(name, text, () => parse(text, previous));
  return parse;
}

/** What is set to nothing is never the default: an empty host would listen on every address. */
function readValue<T>(name: string, text: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const { value = text, message } = error;
    const wrong = value === "" ? "empty" : `${JSON.stringify(value)}, not ${message}`;
    throw new UsageError(`${name} is ${wrong}`);
  }
}
