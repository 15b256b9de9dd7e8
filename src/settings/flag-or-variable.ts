/** Takes the value of a setting from its flag, its environment variable or its default. */
import { type Setting, termOf, variableOf } from "./declare.ts";
import type * as kinds from "./kinds.ts";
import { defaultOf, parseNamed } from "./named-value.ts";
import { UsageError } from "./usage-error.ts";

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
  const separator = texts ? list.flagSeparator : list.variableSeparator;
  if (separator === undefined) return given.map(parse);
  return given.flatMap((text) => text.split(separator)).map((part) => parse(part.trim()));
}
