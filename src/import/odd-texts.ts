/**
 * Finds names and times that are valid but may be wrong in the source, for a report to the operator.
 * Those of private users and of invalid records do not count.
 */
import { isUtf8 } from "node:buffer";
import { decodeHTMLStrict } from "entities/decode";
import { listNames, mayBePrivate, type RawRecord } from "../domain/dataset.ts";
import { isPlaceholder, isUncomputed } from "../domain/no-value.ts";
import { formatTime } from "../domain/time.ts";
import type { CleaningOptions } from "./clean-record.ts";

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

type OddName = "entities" | "misread" | "placeholders" | "contacts";

/** A text, and in which way it is odd. */
interface OddText {
  way: OddName | "times";
  text: string;
}

export class OddTexts {
  /**
   * Names with HTML entities, with U+FFFD, question marks or like UTF-8 read as Latin-1, such as NULL,
   * and with an e-mail address or telephone number.
   */
  readonly names: Record<OddName, OddCount> = {
    entities: { count: 0 },
    misread: { count: 0 },
    placeholders: { count: 0 },
    contacts: { count: 0 },
  };
  /** Times before 1990 or in the future. */
  readonly times: OddCount = { count: 0 };
  readonly #decodesHtml: boolean;
  /** Later times are in the future in every time zone. */
  readonly #tomorrow: string;

  constructor(nowMs: number, { decodeHtml = false }: Pick<CleaningOptions, "decodeHtml">) {
    this.#decodesHtml = decodeHtml;
    this.#tomorrow = formatTime(Math.floor(nowMs / 1000) + DAY);
  }

  /** Finds the odd names and times of a record that has not been cleaned. */
  find(record: RawRecord): OddText[] {
    const found: OddText[] = [];
    if (mayBePrivate(record)) return found;

    for (const { owner, field } of listNames(record)) {
      const name = owner[field];
      if (typeof name !== "string") continue;
      for (const way of this.#waysOf(name)) found.push({ way, text: name });
    }

    const unlocks = Array.isArray(record.achievements) ? record.achievements : [];
    for (const time of [record.created_at, ...unlocks.map((unlock) => unlock?.unlocked_at)]) {
      if (this.#isOddTime(time)) found.push({ way: "times", text: time });
    }
    return found;
  }

  /** Counts what was found in a valid record. */
  count(found: readonly OddText[]): void {
    for (const { way, text } of found) {
      const odd = way === "times" ? this.times : this.names[way];
      odd.count++;
      odd.example ??= text;
    }
  }

  /** Lists the ways in which a name is odd. */
  #waysOf(name: string): OddName[] {
    const ways: OddName[] = [];
    const hasEntities = name.includes("&") && decodeHTMLStrict(name) !== name;
    if (hasEntities && !this.#decodesHtml) ways.push("entities");

    const isLatin = /[\x80-\xff]/.test(name) && !/[^\0-\xff]/.test(name);
    const isMisread = isLatin && isUtf8(Buffer.from(name, "latin1"));
    if (isMisread || name.includes("\ufffd") || isUnknown(name)) ways.push("misread");

    if (isPlaceholder(name) || isUncomputed(name)) ways.push("placeholders");
    if (E_MAIL.test(name) || PHONE.test(name)) ways.push("contacts");
    return ways;
  }

  /** Compares texts, which is exact to a day, because times may have an offset. */
  #isOddTime(time: unknown): time is string {
    return typeof time === "string" && (time < "1990" || time > this.#tomorrow);
  }
}

/** Whether most of a name is what a program writes for letters that its encoding lacks. */
function isUnknown(name: string): boolean {
  const unknown = name.split("?").length - 1;
  return unknown > 1 && unknown > name.replace(/[\s?]/g, "").length;
}
