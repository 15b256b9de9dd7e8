/** Finds names in HTML, and names in UTF-8 that were read as Latin-1. Decodes HTML if asked to. */
import { isUtf8 } from "node:buffer";
import { decodeHTMLStrict } from "entities/decode";
import type { RawRecord } from "../../domain/dataset.ts";

export interface OddNames {
  count: number;
  /** The first of them. No name of a private user counts. */
  example?: string;
}

export class NameInspector {
  readonly entities: OddNames = { count: 0 };
  readonly misread: OddNames = { count: 0 };
  private readonly decode: (text: string) => string;

  constructor(decodeHtml = false) {
    this.decode = decodeHtml ? decodeHTMLStrict : (text) => text;
  }

  /** Decodes a record, and returns its odd names, to be counted once the record is valid. */
  inspect(record: RawRecord): [OddNames, string][] {
    const isPrivate = record.type === "user" && record.public !== true;
    const found: [OddNames, string][] = [];
    const fields = [
      [record, "description"],
      [record, "name"],
      [Object(record.company), "role"],
    ];
    for (const [owner, field] of fields) {
      const text = owner[field];
      if (typeof text !== "string" || !/[&\x80-\xff]/.test(text)) continue;
      owner[field] = this.decode(text);
      if (isPrivate || field === "description") continue;
      if (owner[field] === text && decodeHTMLStrict(text) !== text)
        found.push([this.entities, text]);
      const isLatin = /[\x80-\xff]/.test(text) && !/[^\0-\xff]/.test(text);
      if (isLatin && isUtf8(Buffer.from(text, "latin1"))) found.push([this.misread, text]);
    }
    return found;
  }
}
