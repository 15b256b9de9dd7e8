/**
 * Prepares the texts of records before they are validated: decodes HTML, removes what is invisible
 * from names and resolves avatars. Counts names and times that are valid but may be wrong in the
 * source, for a report to the operator.
 */
import { isUtf8 } from "node:buffer";
import { resolveAvatar } from "../domain/model.ts";
import { mayBePrivate, type RawRecord } from "../domain/records.ts";
import { cleanName, isPlaceholder, isQuestionMarks, isUncomputed } from "../domain/text.ts";
import { formatTime } from "../domain/time.ts";

const DAY = 86_400;
const E_MAIL = /[^\s@<(]@[^\s@]+\.\p{L}{2,}/u;
/** Such as +49 171 1234567, 0171-1234567 and (555) 123-4567, but not the digits of a nickname. */
const PHONE =
  /(?<![\p{L}\p{N}])(?:(?:\+|0)\d(?:[ ()/.-]?\d){6,13}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4})(?!\d)/u;

/** How many texts are odd in one way. */
export interface OddCount {
  count: number;
  /** The first of them. */
  example?: string;
}

/** The ways in which texts are odd. */
interface OddCounts {
  /** Names with invisible characters or extra white space, which are removed. */
  cleaned: OddCount;
  /** Names with HTML entities. */
  entities: OddCount;
  /** Names with U+FFFD, question marks or like UTF-8 read as Latin-1. */
  misread: OddCount;
  /** Names such as NULL. */
  placeholders: OddCount;
  /** Names with an e-mail address or telephone number. */
  contacts: OddCount;
  /** Times before 1990 or in the future. */
  times: OddCount;
}

/** A text, and in which way it is odd. */
interface OddText {
  way: keyof OddCounts;
  text: string;
}

export interface CleaningOptions {
  /** Base URL for avatars that are not http(s) URLs. */
  avatarBase?: string | undefined;
  /** Whether to decode HTML entities in names and descriptions. */
  decodeHtml?: boolean | undefined;
}

/** Times after `nowMs` are odd, unless that is so only in some time zones. */
export async function createCleaner(nowMs: number, { avatarBase, decodeHtml }: CleaningOptions) {
  const { decodeHTMLStrict } = await import("entities/decode");
  const odd: OddCounts = {
    cleaned: noneYet(),
    entities: noneYet(),
    misread: noneYet(),
    placeholders: noneYet(),
    contacts: noneYet(),
    times: noneYet(),
  };
  const tomorrow = formatTime(Math.floor(nowMs / 1000) + DAY);

  /** Compares texts, which is exact to a day, because times may have an offset. */
  const isOddTime = (time: unknown): time is string =>
    typeof time === "string" && (time < "1990" || time > tomorrow);

  /** Cleans a record, and finds out what is odd in it, unless it is a private user's. */
  function clean(record: RawRecord): { cleaned: RawRecord; oddTexts: OddText[] } {
    const { name, company, description, avatar_url, created_at, achievements } = record;
    const cleaned = { ...record };
    const oddTexts: OddText[] = [];
    if (typeof name === "string") cleaned.name = cleanText(name, oddTexts);
    if (typeof company === "object" && company !== null && "role" in company) {
      const { role } = company;
      if (typeof role === "string") {
        cleaned.company = { ...company, role: cleanText(role, oddTexts) };
      }
    }

    if (decodeHtml && typeof description === "string") {
      cleaned.description = decodeHTMLStrict(description);
    }
    if (avatarBase !== undefined && typeof avatar_url === "string") {
      cleaned.avatar_url = resolveAvatar(avatar_url, avatarBase);
    }

    const unlocks = Array.isArray(achievements) ? achievements : [];
    for (const time of [created_at, ...unlocks.map((unlock) => unlock?.unlocked_at)]) {
      if (isOddTime(time)) oddTexts.push({ way: "times", text: time });
    }
    return { cleaned, oddTexts: mayBePrivate(record) ? [] : oddTexts };
  }

  /** Returns a name without what is removed from it, and adds what was odd in it to `oddTexts`. */
  function cleanText(given: string, oddTexts: OddText[]): string {
    const decoded = given.includes("&") ? decodeHTMLStrict(given) : given;
    if (!decodeHtml && decoded !== given) oddTexts.push({ way: "entities", text: given });
    const name = decodeHtml ? decoded : given;
    for (const way of listWays(name)) oddTexts.push({ way, text: name });
    const cleaned = cleanName(name);
    if (cleaned !== name) oddTexts.push({ way: "cleaned", text: given });
    return cleaned;
  }

  /** Counts what was found in a valid record. */
  function count(oddTexts: readonly OddText[]): void {
    for (const { way, text } of oddTexts) {
      odd[way].count++;
      odd[way].example ??= text;
    }
  }

  return { odd, clean, count };
}

const noneYet = (): OddCount => ({ count: 0 });

/** Lists the ways in which a name is odd that need no option. */
function listWays(name: string): OddText["way"][] {
  const ways: OddText["way"][] = [];
  const isLatin = /[\x80-\xff]/.test(name) && !/[^\0-\xff]/.test(name);
  const isMisread = isLatin && isUtf8(Buffer.from(name, "latin1"));
  if (isMisread || name.includes("\ufffd") || isQuestionMarks(name)) ways.push("misread");
  if (isPlaceholder(name) || isUncomputed(name)) ways.push("placeholders");
  if (E_MAIL.test(name) || PHONE.test(name)) ways.push("contacts");
  return ways;
}
