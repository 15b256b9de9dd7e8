/**
 * Chooses what a client gets by the headers of its request: gzip or no coding, a page's language, a
 * page or JSON, and whether it has the body already.
 */
import Negotiator from "negotiator";
import { type Language, languages } from "../domain/languages.ts";
import type { Body, Coding } from "./content.ts";

/** Compression would save little of a shorter body. */
const MIN_COMPRESSED_BYTES = 1024;

/** Only gzip, because most bodies are too short to gain from another coding. */
export function codingFor(body: Body, headers: Headers): Coding {
  if (!headers.has("accept-encoding") || Buffer.byteLength(body) <= MIN_COMPRESSED_BYTES) {
    return "identity";
  }
  const preferences = preferencesIn(headers, "accept-encoding");
  return preferences.encoding(["gzip", "identity"]) === "gzip" ? "gzip" : "identity";
}

/** A kiosk's visitor chooses a language, which the script keeps in a cookie until it is idle. */
export function languageFor(headers: Headers, isKiosk: boolean): Language {
  const cookie = isKiosk ? headers.get("cookie") : null;
  const [, chosen] = /(?:^|;)\s*language=(\w+)/.exec(cookie ?? "") ?? [];
  const known = Object.keys(languages) as Language[];
  const [best = "en"] = preferencesIn(headers, "accept-language").languages(known) as Language[];
  return known.find((code) => code === chosen) ?? best;
}

/** A client that accepts any type, as most programs do, gets JSON. */
export function prefersPage({ headers }: Request): boolean {
  const preferences = preferencesIn(headers, "accept");
  return preferences.mediaType(["application/json", "text/html"]) === "text/html";
}

/** Only from the start of the header. All of a 15 KB header would outlast most pages. */
function preferencesIn(headers: Headers, name: string): Negotiator {
  return new Negotiator({ headers: { [name]: headers.get(name)?.slice(0, 1000) } });
}

/** A tag, with the suffix that Apache, lighttpd and others insert when they compress a response. */
const TAG = /"([\x21\x23-\x7e\x80-\xff]*?)(?:--?gzip|;gzip)?"/g;

/** Whether If-None-Match has `etag`, weak or strong, or is `*`. A malformed tag matches nothing. */
export function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  return header.matchAll(TAG).some(([tag, opaque]) => tag === etag || `"${opaque}"` === etag);
}
