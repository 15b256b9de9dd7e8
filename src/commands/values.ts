/** Values that only flags have, and what an error in one is. Never reads the environment. */
import { bounds, InvalidValue, parseDuration, parseInteger } from "../options.ts";

/** Wrong usage: the message is for the operator, and the command exits with 2. */
export class UsageError extends Error {
  override name = "UsageError";
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

/** A duration in milliseconds; a number without a unit is in seconds. */
export function parseTime(text: string): number {
  return parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
}

const parseSeconds = parseInteger(...bounds.cacheMaxAgeSeconds);

/** A duration in whole seconds; a number without a unit is in seconds, too. */
export function parseMaxAge(text: string): number {
  const seconds = /^\d+$/.test(text) ? parseSeconds(text) : parseDuration(text) / 1000;
  if (Number.isInteger(seconds)) return seconds;
  throw new InvalidValue("a time in whole seconds, such as 5m or 300");
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
