/**
 * Prepares the texts of records before they are validated: decodes HTML, removes what is invisible
 * from names and resolves avatars. Counts the names that have changed, and the texts that look odd.
 */
import { isUtf8 } from "node:buffer";
import { decodeHTMLStrict } from "entities/decode";
import { resolveAvatar } from "../../domain/avatar-url.ts";
import { mayBePrivate, type RawRecord } from "../../domain/dataset.ts";
import { cleanName } from "../../domain/text.ts";
import { formatTime } from "../../domain/time.ts";
import { isUncomputed } from "../../domain/validation-errors.ts";
import type { BuildTime, Dated } from "./build-time.ts";

export interface CleaningOptions extends BuildTime {
  /** Base URL for avatars that are not http(s) URLs. */
  avatarBase?: string | undefined;
  /** Whether to decode HTML entities in names and descriptions. */
  decodeHtml?: boolean | undefined;
}

const DAY = 86_400;
/** How programs write that there is no value. Some people have such a name. */
const PLACEHOLDER = /^\s*(?:NULL|null|undefined)\s*$/;
/** Most names are not judged, because they contain nothing of this. */
const MAY_BE_ODD = new RegExp(`[&#\\x80-\\xff\\ufffd]|${PLACEHOLDER.source}`);

/** Texts that may be wrong in the source. Those of private users and invalid records do not count. */
export interface OddTexts {
  count: number;
  /** The first of them. */
  example?: string;
}

/** The findings in a record, which count only if the record is written. */
interface Findings {
  cleanedNames: number;
  oddTexts: OddText[];
}

/** A text, and the count to which it belongs. */
type OddText = readonly [count: OddTexts, text: string];

export class RecordCleaner {
  /** How many names that are written had invisible characters or extra white space. */
  cleaned = 0;
  /** Names with HTML entities, with U+FFFD or like UTF-8 read as Latin-1, and such as NULL. */
  readonly names = {
    entities: { count: 0 } as OddTexts,
    misread: { count: 0 } as OddTexts,
    placeholders: { count: 0 } as OddTexts,
  };
  /** Times before 1990 or in the future. */
  readonly times: OddTexts = { count: 0 };
  readonly #options: CleaningOptions;
  /** Later times are in the future in every time zone. */
  readonly #tomorrow: string;

  constructor(options: Dated<CleaningOptions>) {
    this.#options = options;
    this.#tomorrow = formatTime(Math.floor(options.builtAtMs / 1000) + DAY);
  }

  /** Cleans a record, and returns the findings for {@link count}. */
  clean(record: RawRecord): Findings {
    const oddTexts: OddText[] = [];
    this.#decodeNames(record, oddTexts);
    this.#judgeTimes(record, oddTexts);
    const changed = cleanNames(record);
    const cleanedNames = mayBePrivate(record) ? 0 : changed;

    const { avatarBase } = this.#options;
    if (avatarBase !== undefined && typeof record.avatar_url === "string") {
      record.avatar_url = resolveAvatar(record.avatar_url, avatarBase);
    }

    return { cleanedNames, oddTexts };
  }

  /** Counts what was found in a valid record. */
  count({ cleanedNames, oddTexts }: Findings): void {
    this.cleaned += cleanedNames;
    for (const [odd, text] of oddTexts) {
      odd.count++;
      odd.example ??= text;
    }
  }

  /** Decodes the HTML in names and descriptions. Adds the odd names of a public record. */
  #decodeNames(record: RawRecord, found: OddText[]): void {
    const isQuotable = !mayBePrivate(record);
    for (const field of ["description", "name", "role"]) {
      const owner = field === "role" ? Object(record.company) : record;
      const text = owner[field];
      if (typeof text !== "string" || !MAY_BE_ODD.test(text)) continue;

      const decoded = decodeHTMLStrict(text);
      if (this.#options.decodeHtml) owner[field] = decoded;
      if (isQuotable && field !== "description") found.push(...this.#judge(text, decoded));
    }
  }

  *#judge(name: string, decoded: string): Generator<OddText> {
    if (!this.#options.decodeHtml && decoded !== name) yield [this.names.entities, name];

    const isLatin = /[\x80-\xff]/.test(name) && !/[^\0-\xff]/.test(name);
    const isMisread = isLatin && isUtf8(Buffer.from(name, "latin1"));
    if (isMisread || name.includes("\ufffd")) yield [this.names.misread, name];

    if (PLACEHOLDER.test(name) || isUncomputed(name)) yield [this.names.placeholders, name];
  }

  /** Adds the odd times of a public user. */
  #judgeTimes(record: RawRecord, found: OddText[]): void {
    const { public: isPublic, created_at, achievements } = record;
    if (isPublic !== true) return;

    if (this.#isOddTime(created_at)) found.push([this.times, created_at]);
    for (const unlock of Array.isArray(achievements) ? achievements : []) {
      const time = unlock?.unlocked_at;
      if (this.#isOddTime(time)) found.push([this.times, time]);
    }
  }

  /** Compares texts, which is exact to a day, because times may have an offset. */
  #isOddTime(time: unknown): time is string {
    return typeof time === "string" && (time < "1990" || time > this.#tomorrow);
  }
}

/** Cleans the names in a record. Returns how many of them have changed. */
export function cleanNames(record: RawRecord): number {
  return cleanField(record, "name") + cleanField(Object(record.company), "role");
}

function cleanField(record: RawRecord, field: string): number {
  const name = record[field];
  if (typeof name !== "string") return 0;
  record[field] = cleanName(name);
  return Number(record[field] !== name);
}
