/**
 * Prepares the texts of records before they are validated: decodes HTML, removes what is invisible
 * from names and resolves avatars.
 */
import { decodeHTMLStrict } from "entities/decode";
import { resolveAvatar } from "../domain/avatar-url.ts";
import { listNames, mayBePrivate, type RawRecord } from "../domain/dataset.ts";
import { cleanName } from "../domain/text.ts";

export interface CleaningOptions {
  /** Base URL for avatars that are not http(s) URLs. */
  avatarBase?: string | undefined;
  /** Whether to decode HTML entities in names and descriptions. */
  decodeHtml?: boolean | undefined;
}

/** Cleans a record in place. Returns how many names have changed, except those of private users. */
export function cleanRecord(record: RawRecord, options: CleaningOptions): number {
  const { avatarBase, decodeHtml } = options;
  if (decodeHtml) decodeTexts(record);
  const changed = cleanNames(record);
  if (avatarBase !== undefined && typeof record.avatar_url === "string") {
    record.avatar_url = resolveAvatar(record.avatar_url, avatarBase);
  }

  return mayBePrivate(record) ? 0 : changed;
}

/** Decodes the HTML in the names and the description of a record. */
function decodeTexts(record: RawRecord): void {
  for (const { owner, field } of [...listNames(record), { owner: record, field: "description" }]) {
    const text = owner[field];
    if (typeof text === "string") owner[field] = decodeHTMLStrict(text);
  }
}

/** Cleans the names in a record. Returns how many of them have changed. */
function cleanNames(record: RawRecord): number {
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
