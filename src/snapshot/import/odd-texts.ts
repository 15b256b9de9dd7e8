/**
 * Finds names and times that are valid but may be wrong in the source, for a report to the operator.
 * Those of private users and of invalid records do not count.
 */
import { isUtf8 } from "node:buffer";
import type { RawRecord } from "../../domain/dataset.ts";
import { formatTime } from "../../domain/time.ts";
import { isUncomputed } from "../../domain/validation-errors.ts";
import type { Dated } from "./build-time.ts";

const DAY = 86_400;
/** How programs write that there is no value. Some people have such a name. */
const PLACEHOLDER = /^\s*(?:NULL|null|undefined)\s*$/;
/** Most texts are neither decoded nor judged, because they contain nothing of this. */
const MAY_BE_ODD = new RegExp(`[&#\\x80-\\xff\\ufffd]|${PLACEHOLDER.source}`);

export const mayBeOdd = (text: string): boolean => MAY_BE_ODD.test(text);

/** How many texts are odd in one way. */
export interface OddCount {
  count: number;
  /** The first of them. */
  example?: string;
}

/** A text, and the count to which it belongs. */
export type OddText = readonly [odd: OddCount, text: string];

export class OddTexts {
  /** Names with HTML entities, with U+FFFD or like UTF-8 read as Latin-1, and such as NULL. */
  readonly names = {
    entities: { count: 0 } as OddCount,
    misread: { count: 0 } as OddCount,
    placeholders: { count: 0 } as OddCount,
  };
  /** Times before 1990 or in the future. */
  readonly times: OddCount = { count: 0 };
  readonly #decodesHtml: boolean;
  /** Later times are in the future in every time zone. */
  readonly #tomorrow: string;

  constructor({ decodeHtml = false, builtAtMs }: Dated<{ decodeHtml?: boolean | undefined }>) {
    this.#decodesHtml = decodeHtml;
    this.#tomorrow = formatTime(Math.floor(builtAtMs / 1000) + DAY);
  }

  /** Yields a name for each way in which it is odd. */
  *findIn(name: string, decoded: string): Generator<OddText> {
    if (!this.#decodesHtml && decoded !== name) yield [this.names.entities, name];

    const isLatin = /[\x80-\xff]/.test(name) && !/[^\0-\xff]/.test(name);
    const isMisread = isLatin && isUtf8(Buffer.from(name, "latin1"));
    if (isMisread || name.includes("\ufffd")) yield [this.names.misread, name];

    if (PLACEHOLDER.test(name) || isUncomputed(name)) yield [this.names.placeholders, name];
  }

  /** Adds the odd times of a public user. */
  addTimes({ public: isPublic, created_at, achievements }: RawRecord, found: OddText[]): void {
    if (isPublic !== true) return;

    if (this.#isOddTime(created_at)) found.push([this.times, created_at]);
    for (const unlock of Array.isArray(achievements) ? achievements : []) {
      const time = unlock?.unlocked_at;
      if (this.#isOddTime(time)) found.push([this.times, time]);
    }
  }

  count([odd, text]: OddText): void {
    odd.count++;
    odd.example ??= text;
  }

  /** Compares texts, which is exact to a day, because times may have an offset. */
  #isOddTime(time: unknown): time is string {
    return typeof time === "string" && (time < "1990" || time > this.#tomorrow);
  }
}
