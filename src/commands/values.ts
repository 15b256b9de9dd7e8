/** Parsers for values of flags, and the error for wrong usage. Never reads the environment. */
import { InvalidValue } from "../options.ts";

/** Wrong usage. The message is for the operator, and the command exits with 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** Throws a {@link UsageError} on Node.js, where the npm package can run but `flag` cannot. */
export function requireBun(flag: string): void {
  if (process.versions.bun) return;
  throw new UsageError(`${flag} does not work on Node.js; use the executable or Bun`);
}

/** Turns a text into a value, or throws an {@link InvalidValue}. The empty text is never valid. */
export type Parser<T> = (text: string, previous: T) => T;

/** Any text except the empty one. */
export function parseNonEmpty(text: string): string {
  if (text !== "") return text;
  throw new InvalidValue("must not be empty");
}

/** Any text, such as a file name. A text that starts with `--` is most likely the next flag. */
export function parseText(text: string): string {
  if (!text.startsWith("--")) return parseNonEmpty(text);
  const error = new InvalidValue("needs a value");
  error.hint = `for a file with this name, write ./${text}`;
  throw error;
}

/** The variable of a flag without a value. */
export function parseBoolean(text: string): boolean {
  if (/^(?:1|true)$/.test(text)) return true;
  if (/^(?:0|false)$/.test(text)) return false;
  throw new InvalidValue("must be 1 or 0");
}

export function parseOneOf<const Choice extends string>(
  choices: readonly Choice[],
): Parser<Choice> {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    throw new InvalidValue(`must be one of ${choices.join(", ")}`);
  };
}

/** A list of values. Each further use of the flag adds to it. */
export function parseList<T>(parse: (text: string) => T, separator = ","): Parser<T[]> {
  return (text, previous) => [
    ...previous,
    ...text.split(separator).map((part) => {
      const value = part.trim();
      try {
        return parse(value);
      } catch (error) {
        if (error instanceof InvalidValue) error.value = value;
        throw error;
      }
    }),
  ];
}
