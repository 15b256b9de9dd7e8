/**
 * Prepares the texts of records before they are validated: decodes HTML, removes what is invisible
 * from names and resolves avatars. Counts the names that have changed or look odd.
 */
import { isUtf8 } from "node:buffer";
import { decodeHTMLStrict } from "entities/decode";
import { cleanNames, type RawRecord } from "../../domain/dataset.ts";

export interface CleaningOptions {
  /** Base URL for avatars that are not http(s) URLs. */
  avatarBase?: string | undefined;
  /** Whether to decode HTML entities in names and descriptions. */
  decodeHtml?: boolean | undefined;
}

/** Names that may be wrong in the source. Those of private users and invalid records do not count. */
export interface OddNames {
  count: number;
  /** The first of them. */
  example?: string;
}

/** A name, and the count to which it belongs if its record is valid. */
type Finding = [odd: OddNames, name: string];

const NONE: readonly Finding[] = [];

export class RecordCleaner {
  /** How many names had invisible characters or extra white space. */
  cleaned = 0;
  /** Names with HTML entities, and names with U+FFFD or that look like UTF-8 read as Latin-1. */
  readonly names = { entities: { count: 0 } as OddNames, misread: { count: 0 } as OddNames };
  readonly #options: CleaningOptions;

  constructor(options: CleaningOptions) {
    this.#options = options;
  }

  /** Cleans a record. Returns the names in it that look odd, for {@link count}. */
  clean(record: RawRecord): readonly Finding[] {
    const found = this.#decodeNames(record);
    this.cleaned += cleanNames(record);
    const { avatarBase } = this.#options;
    if (avatarBase !== undefined) resolveAvatar(record, avatarBase);
    return found;
  }

  /** Counts the names of a valid record. */
  count(found: readonly Finding[]): void {
    for (const [odd, name] of found) {
      odd.count++;
      odd.example ??= name;
    }
  }

  #decodeNames(record: RawRecord): readonly Finding[] {
    let found = NONE;
    for (const field of ["description", "name", "role"]) {
      const owner = field === "role" ? Object(record.company) : record;
      const text = owner[field];
      if (typeof text !== "string" || !/[&\x80-\xff\ufffd]/.test(text)) continue;
      const decoded = decodeHTMLStrict(text);
      if (this.#options.decodeHtml) owner[field] = decoded;
      const isPrivate = record.type === "user" && record.public !== true;
      if (!isPrivate && field !== "description") found = [...found, ...this.#judge(text, decoded)];
    }
    return found;
  }

  *#judge(name: string, decoded: string): Generator<Finding> {
    if (!this.#options.decodeHtml && decoded !== name) yield [this.names.entities, name];
    const isLatin = /[\x80-\xff]/.test(name) && !/[^\0-\xff]/.test(name);
    const isMisread = isLatin && isUtf8(Buffer.from(name, "latin1"));
    if (isMisread || name.includes("\ufffd")) yield [this.names.misread, name];
  }
}

/** Resolves an avatar as a browser would, unless it is an http(s) URL. */
function resolveAvatar(record: RawRecord, base: string): void {
  const { avatar_url: avatar } = record;
  if (typeof avatar !== "string" || /^https?:\/\//i.test(avatar)) return;
  record.avatar_url = URL.parse(avatar, base)?.href ?? avatar;
}
