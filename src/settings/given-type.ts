/** The types that the library takes for an option. */

export interface GivenType {
  /** For messages, such as `string or object`. */
  words: string;
  includes(given: unknown): boolean;
}

const ofType = (words: string): GivenType => ({
  words,
  includes: (given) => typeof given === words,
});

export const STRING = ofType("string");
export const NUMBER = ofType("number");
export const BOOLEAN = ofType("boolean");
export const FUNCTION = ofType("function");

export const ARRAY: GivenType = { words: "array", includes: Array.isArray };

/** A path, or bytes of any realm. */
export const PATH_OR_BYTES: GivenType = {
  words: "string or object",
  includes: (given) => typeof given === "string" || ArrayBuffer.isView(given),
};

/** A path, bytes, or an iterable of objects or bytes. */
export const LINES: GivenType = {
  words: "string or object or array",
  includes: (given) =>
    typeof given === "string" ||
    (typeof given === "object" &&
      given !== null &&
      (Symbol.iterator in given || Symbol.asyncIterator in given)),
};

/** Returns the type of a value, as messages name it. */
export function typeNameOf(given: unknown): string {
  if (Array.isArray(given)) return "array";
  return given === null ? "null" : typeof given;
}
