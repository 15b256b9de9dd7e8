/** Says what an invalid value looks like, and what to do about it, to continue an error message. */
import { isRounded, MAX_KEY_LENGTH, toKey } from "./keys.ts";
import type { Advice } from "./model.ts";
import { isPlaceholder, isUncomputed } from "./no-value.ts";

const FIRST_STEAM_ID = 76561197960265728n;

/** Returns an empty text if there is nothing to say. */
export function adviseOn(value: unknown, advice: Advice | undefined): string {
  if (isUncomputed(value)) return FORMULA_ADVICE;
  if (isPlaceholder(value)) return NO_VALUE_ADVICE;
  if (advice === "id") return adviseOnId(value);
  return advice === "avatar" ? adviseOnAvatar(value) : "";
}

export const FORMULA_ADVICE = "; it is an error of a formula in a spreadsheet: correct the formula";
export const NO_VALUE_ADVICE =
  "; it stands for no value: leave it empty (in JSON or SQL, null), or leave out the row";

function adviseOnAvatar(value: unknown): string {
  const isRelative = typeof value === "string" && !/^[a-z]+:|^\s*$/i.test(value);
  return isRelative ? "; --avatar-base URL of import says what a relative one belongs to" : "";
}

const QUOTES = "\"'“”„‘’«»";
const QUOTED = new RegExp(`^[${QUOTES}]+\\s*\\d+\\s*[${QUOTES}]+$`);
/** Such as 1,234, 1.234, 1 234 and 1'234. */
const SEPARATED = /^\d{1,3}(?:[.,'’\s]\d{3})+$/;

function adviseOnId(id: unknown): string {
  if (typeof id === "bigint") return id > 0 ? adviseOnKey(id) : "";
  if (typeof id === "number") return id > Number.MAX_SAFE_INTEGER ? ROUNDED_ADVICE : "";
  if (typeof id !== "string") return "";
  const text = id.trim();
  if (isRounded(text)) return ROUNDED_ADVICE;
  if (/^\d+$/.test(text) && !Number.isSafeInteger(Number(text))) return adviseOnKey(BigInt(text));
  if (/^\d+$/.test(text) || QUOTED.test(text)) return "; remove the quotes";
  if (SEPARATED.test(text)) return "; remove the separator";
  if (/^[-+\d.,]+$/.test(text)) return "";
  return adviseOnKey(text);
}

/** Such as Total. Keys have digits, or are in lower case. */
const WORD = /^\p{Lu}[\p{L}\p{M}\s.:]*$/u;
const ROUNDED_ADVICE = "; it looks like a number that a spreadsheet has rounded";

/** Advises on an id that only an id map takes, unless it looks as if the row were no record. */
function adviseOnKey(id: bigint | string): string {
  if (toKey(id) === undefined) {
    return `; with --id-map FILE, it can be text of 1 to ${MAX_KEY_LENGTH} code points`;
  }
  const isSteam = typeof id === "bigint" && id >= FIRST_STEAM_ID && id < FIRST_STEAM_ID + 2n ** 32n;
  if (isSteam) {
    return `; such ids need --id-map FILE, or subtract ${FIRST_STEAM_ID} from Steam ids in SQL`;
  }
  if (typeof id === "string" && WORD.test(id)) {
    return "; remove the row if it is a total or a note; ids of text need --id-map FILE";
  }
  return "; such ids need --id-map FILE";
}
