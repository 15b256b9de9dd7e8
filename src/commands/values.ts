/** Values that only flags have, and what an error in one is. Never reads the environment. */
import { InvalidValue } from "../options.ts";

/** Wrong usage: the message is for the operator, and the command exits with 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** Throws a {@link UsageError} on Node.js, where the npm package may run, and which has no `flag`. */
export function requireBun(flag: string): void {
  if (process.versions.bun) return;
  throw new UsageError(`${flag} does not work on Node.js; use the executable, or Bun`);
}

/** Turns a text into a value, or throws an {@link InvalidValue}. The empty text is never valid. */
export type Parser<T> = (text: string, previous: T) => T;

/** Any text but none. */
export function parseNonEmpty(text: string): string {
  if (text !== "") return text;
  throw new InvalidValue("a value");
}

/** Any text, such as a file name. What starts with `--` is the next flag: the value was forgotten. */
export function parseText(text: string): string {
  if (!text.startsWith("--")) return parseNonEmpty(text);
  throw new InvalidValue(`a value; for a file of that name, write ./${text}`);
}

/** 1 or true, 0 or false: the variable of a flag without a value. */
export function parseBoolean(text: string): boolean {
  if (/^(?:1|true)$/.test(text)) return true;
  if (/^(?:0|false)$/.test(text)) return false;
  throw new InvalidValue("1 or 0");
}

export function parseOneOf<const Choice extends string>(
  choices: readonly Choice[],
): Parser<Choice> {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    throw new InvalidValue(`one of ${choices.join(", ")}`);
  };
}

/** Several values between separators; a flag that is given again adds to them. */
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
