/** Chooses what a client prefers: gzip or no coding, a page's language, and a page or JSON. */
import Negotiator from "negotiator";
import { type Language, languages } from "../domain/languages.ts";
import type { Coding, Content } from "./content.ts";

/** Compression would save little of a shorter body. */
const MIN_COMPRESSED_BYTES = 1024;

/** Compressing a longer body for each request would delay others. This takes up to 3 ms. */
const MAX_COMPRESSED_LENGTH = 500_000;

/** Only gzip, because most bodies are too short to gain from another coding. */
export function codingFor({ type, body, options }: Content, headers: Headers): Coding {
  if (!headers.has("accept-encoding") || body === null) return "identity";
  const isShort = Buffer.byteLength(body) <= MIN_COMPRESSED_BYTES;
  const isLong = !options.isShared && body.length > MAX_COMPRESSED_LENGTH;
  // A PNG is compressed already.
  if (isShort || isLong || type === "image/png") return "identity";

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

/** The language with the region that the client prefers for it, such as `en-GB`, if it names one. */
export function localeFor(headers: Headers, language: Language): string {
  const tags = preferencesIn(headers, "accept-language").languages();
  const regional = new RegExp(`^${language}-(?:[a-z]{2}|\\d{3})$`, "i");
  return tags.find((tag) => regional.test(tag)) ?? language;
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
