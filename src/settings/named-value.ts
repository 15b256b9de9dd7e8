/** Parses a value so that an error names its setting or option, and gives the default. */
import { InvalidValue } from "../domain/invalid-value.ts";
import type { Setting } from "./declare.ts";
import type * as kinds from "./kinds.ts";
import { UsageError } from "./usage-error.ts";

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

/** Returns the value of a setting that was left out. */
export function defaultOf({ kind, default: text }: Pick<Setting, "kind" | "default">): unknown {
  if (text !== undefined) return kind.parse(text);
  return kind.isSwitch ? false : undefined;
}
