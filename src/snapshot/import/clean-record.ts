/**
 * Prepares the texts of records before they are validated: decodes HTML, removes what is invisible
 * from names and resolves avatars. Counts the names that have changed.
 */
import { decodeHTMLStrict } from "entities/decode";
import { resolveAvatar } from "../../domain/avatar-url.ts";
import { listNames, mayBePrivate, type RawRecord } from "../../domain/dataset.ts";
import { cleanName } from "../../domain/text.ts";
import type { BuildTime, Dated } from "./build-time.ts";
import { type OddText, OddTexts } from "./odd-texts.ts";

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
    const { avatarBase, decodeHtml } = this.#options;
    const oddTexts = this.odd.find(record);
    if (decodeHtml) decodeTexts(record);
    const changed = cleanNames(record);
    const cleanedNames = mayBePrivate(record) ? 0 : changed;

    if (avatarBase !== undefined && typeof record.avatar_url === "string") {
      record.avatar_url = resolveAvatar(record.avatar_url, avatarBase);
    }

    return { cleanedNames, oddTexts };
  }

  /** Counts what was found in a valid record. */
  count({ cleanedNames, oddTexts }: Findings): void {
    this.cleaned += cleanedNames;
    this.odd.count(oddTexts);
  }
}

/** Decodes the HTML in the names and the description of a record. */
function decodeTexts(record: RawRecord): void {
  for (const { owner, field } of [...listNames(record), { owner: record, field: "description" }]) {
    const text = owner[field];
    if (typeof text === "string") owner[field] = decodeHTMLStrict(text);
  }
}

/** Cleans the names in a record. Returns how many of them have changed. */
export function cleanNames(record: RawRecord): number {
  let changed = 0;
  for (const { owner, field } of listNames(record)) {
    const name = owner[field];
    if (typeof name !== "string") continue;

    const cleaned = cleanName(name);
    owner[field] = cleaned;
    if (cleaned !== name) changed++;
  }
  return changed;
}
