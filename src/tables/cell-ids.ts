/** Converts the ids that cells have to those of a dataset. */
import { toKey } from "../domain/keys.ts";
import { toInteger } from "./cell-integers.ts";

/** The form of ids: integers, or keys, which can be of any kind. */
export interface IdFormat {
  /** Reads an id from a cell. Returns anything else unchanged, so that validation quotes it. */
  read(cell: unknown): unknown;
  /** Whether a cell refers to nothing, such as 0. */
  isNone(cell: unknown): boolean;
  /** Whether what `read` has returned is an id. */
  isId(value: unknown): value is number | string;
}

export const idFormats = {
  integers: {
    read: toInteger,
    isNone: (cell) => !toInteger(cell),
    isId: (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  },
  keys: {
    read: (cell) => toKey(cell) ?? toInteger(cell),
    isNone: (cell) => !(cell instanceof Uint8Array) && !toInteger(cell),
    isId: (value): value is number | string => toKey(value) !== undefined,
  },
} satisfies Record<string, IdFormat>;

/** Keys need an id map. */
export type IdKind = keyof typeof idFormats;
