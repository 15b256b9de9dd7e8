/**
 * Finds names and times that are valid but may be wrong in the source, for a report to the operator.
 * Those of private users and of invalid records do not count.
 */
import { isUtf8 } from "node:buffer";
import { decodeHTMLStrict } from "entities/decode";
import { listNames, mayBePrivate, type RawRecord } from "../domain/dataset.ts";
import { formatTime } from "../domain/time.ts";
import { isUncomputed } from "../domain/uncomputed-cell.ts";
import type { CleaningOptions } from "./clean-record.ts";

const DAY = 86_400;
/** How programs write that there is no value. Some people have such a name. */
const PLACEHOLDER = /^\s*(?:NULL|null|undefined)\s*$/;
/** Most names are not examined any further, because they contain nothing of this. */
const MAY_BE_ODD = new RegExp(`[&#\\x80-\\xff\\ufffd]|${PLACEHOLDER.source}`);

/** How many texts are odd in one way. */
export interface OddCount {
  count: number;
  /** The first of them. */
  example?: string;
}

type OddName = "entities" | "misread" | "placeholders";

/** A text, and in which way it is odd. */
interface OddText {
  way: OddName | "times";
  text: string;
}

export class OddTexts {
  /** Names with HTML entities, with U+FFFD or like UTF-8 read as Latin-1, and such as NULL. */
  readonly names: Record<OddName, OddCount> = {
    entities: { count: 0 },
    misread: { count: 0 },
    placeholders: { count: 0 },
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
      if (typeof name !== "string" || !MAY_BE_ODD.test(name)) continue;
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
    if (!this.#decodesHtml && decodeHTMLStrict(name) !== name) ways.push("entities");

    const isLatin = /[\x80-\xff]/.test(name) && !/[^\0-\xff]/.test(name);
    const isMisread = isLatin && isUtf8(Buffer.from(name, "latin1"));
    if (isMisread || name.includes("\ufffd")) ways.push("misread");

    if (PLACEHOLDER.test(name) || isUncomputed(name)) ways.push("placeholders");
    return ways;
  }

  /** Compares texts, which is exact to a day, because times may have an offset. */
  #isOddTime(time: unknown): time is string {
    return typeof time === "string" && (time < "1990" || time > this.#tomorrow);
  }
}
