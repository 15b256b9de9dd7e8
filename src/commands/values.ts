/** Parsers for flag values. Never reads the environment. */
import { UsageError } from "../options.ts";

/** Throws a {@link UsageError} under Node.js, where the npm package runs but lacks `flag`. */
export function requireBun(flag: string): void {
  if (process.versions.bun) return;
  throw new UsageError(`${flag} does not work on Node.js; use the executable or Bun`);
}

/** Parses text into a value, or throws a {@link UsageError}. Empty text is never valid. */
export type Parser<T> = (text: string, previous: T) => T;

/** Accepts any non-empty text. */
export function parseNonEmpty(text: string): string {
  if (text !== "") return text;
  throw new UsageError("must not be empty");
}

/**
 * Accepts text such as a file name. Rejects text that starts with `--`, because it is most likely
 * the next flag.
 */
export function parseText(text: string): string {
  if (!text.startsWith("--")) return parseNonEmpty(text);
  const error = new UsageError("needs a value");
  error.hint = `for a file with this name, write ./${text}`;
  throw error;
}

/** Accepts the path of a file to write. */
export function parseFile(text: string): string {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return parseText(text);
  const error = new UsageError("must be a file");
  const hint = "write a file and copy it there, for example with aws s3 cp";
  throw Object.assign(error, { isSecret: true, hint });
}

/** Parses the environment variable of a flag that takes no value. */
export function parseBoolean(text: string): boolean {
  if (/^(?:1|true)$/.test(text)) return true;
  if (/^(?:0|false)$/.test(text)) return false;
  throw new UsageError("must be 1 or 0");
}

export function parseOneOf<const Choice extends string>(
  choices: readonly Choice[],
): Parser<Choice> {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    throw new UsageError(`must be one of ${choices.join(", ")}`);
  };
}

/** Parses a list of values. Each further use of the flag extends the list. */
export function parseList<T>(parse: (text: string) => T, separator = ","): Parser<T[]> {
  return (text, previous) => [
    ...previous,
    ...text.split(separator).map((part) => {
      const value = part.trim();
      try {
        return parse(value);
      } catch (error) {
        if (error instanceof UsageError) error.value = value;
        throw error;
      }
    }),
  ];
}
