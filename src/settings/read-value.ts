/** Reads the value of a setting from its flag, its environment variable or its default. */
import { InvalidValue } from "../domain/invalid-value.ts";
import { type Setting, termOf, variableOf } from "./declare.ts";
import type * as kinds from "./kinds.ts";

/** Reports incorrect usage, for which a command exits with 2. The message is for the operator. */
export class UsageError extends RangeError {
  override name = "UsageError";
}

/** The exit code of a command that fails: 2 for incorrect usage, or else 1. */
export function exitCodeOf(error: unknown): number {
  return error instanceof UsageError ? 2 : 1;
}

/** Parses the texts given on the command line, otherwise the variable in `env` or the default. */
export function readValue(setting: Setting, texts: string[] | undefined, env: kinds.Environment) {
  const { kind, list } = setting;
  const variable = variableOf(setting) ?? "";
  const name = texts ? termOf(setting) : variable;
  const given = texts ?? [env[variable]].filter((text) => text !== undefined);
  const parse = (text: string) => {
    // An empty value is an error, because an empty host would listen on every address.
    if (text === "") throw new UsageError(`${name} must not be empty`);
    return parseNamed(name, kind, text, () => kind.parse(text, env));
  };

  const last = given.at(-1);
  if (last === undefined) return defaultOf(setting);
  if (!list) return parse(last);
  if (texts && list === ";") return given.map(parse);
  return given.flatMap((text) => text.split(list)).map((part) => parse(part.trim()));
}

/** Returns the value of a setting that was left out. */
export function defaultOf({ kind, default: text }: Pick<Setting, "kind" | "default">): unknown {
  if (text !== undefined) return kind.parse(text);
  return kind.isSwitch ? false : undefined;
}

/** Makes a parser's error, such as "must be 1 or 0", name the setting and end with the value. */
export function parseNamed<Inside>(
  name: string,
  { isSecret }: Pick<kinds.TextKind<unknown>, "isSecret">,
  value: unknown,
  parse: () => Inside,
): Inside {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const got = isSecret ? "" : `, got ${JSON.stringify(value)}`;
    throw new UsageError(`${name} ${error.message}${got}`);
  }
}
