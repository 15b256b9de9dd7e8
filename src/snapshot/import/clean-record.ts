/**
 * Prepares the texts of records before they are validated: decodes HTML, removes what is invisible
 * from names and resolves avatars. Counts the names that have changed.
 */
import { decodeHTMLStrict } from "entities/decode";
import { resolveAvatar } from "../../domain/avatar-url.ts";
import { mayBePrivate, type RawRecord } from "../../domain/dataset.ts";
import { cleanName } from "../../domain/text.ts";
import type { BuildTime, Dated } from "./build-time.ts";
import { mayBeOdd, type OddText, OddTexts } from "./odd-texts.ts";

export interface CleaningOptions extends BuildTime {
  /** Base URL for avatars that are not http(s) URLs. */
  avatarBase?: string | undefined;
  /** Whether to decode HTML entities in names and descriptions. */
  decodeHtml?: boolean | undefined;
}

/** The findings in a record, which count only if the record is written. */
interface Findings {
  cleanedNames: number;
  oddTexts: OddText[];
}

export class RecordCleaner {
  /** How many names that are written had invisible characters or extra white space. */
  cleaned = 0;
  readonly odd: OddTexts;
  readonly #options: CleaningOptions;

  constructor(options: Dated<CleaningOptions>) {
    this.#options = options;
    this.odd = new OddTexts(options);
  }

  /** Cleans a record, and returns the findings for {@link count}. */
  clean(record: RawRecord): Findings {
    const oddTexts: OddText[] = [];
    this.#decodeNames(record, oddTexts);
    this.odd.addTimes(record, oddTexts);
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
    for (const found of oddTexts) this.odd.count(found);
  }

  /** Decodes the HTML in names and descriptions. Adds the odd names of a public record. */
  #decodeNames(record: RawRecord, found: OddText[]): void {
    const isQuotable = !mayBePrivate(record);
    for (const field of ["description", "name", "role"]) {
      const owner = field === "role" ? Object(record.company) : record;
      const text = owner[field];
      if (typeof text !== "string" || !mayBeOdd(text)) continue;

      const decoded = decodeHTMLStrict(text);
      if (this.#options.decodeHtml) owner[field] = decoded;
      if (isQuotable && field !== "description") found.push(...this.odd.findIn(text, decoded));
    }
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
