/** Chooses the language of a page. */
import { type Language, languages } from "../domain/languages.ts";
import { preferencesIn } from "./negotiate.ts";

/** A kiosk's visitor chooses a language, which the script keeps in a cookie until it is idle. */
export function languageFor(headers: Headers, isKiosk: boolean): Language {
  const cookie = isKiosk ? headers.get("cookie") : null;
  const [, chosen] = /(?:^|;)\s*language=(\w+)/.exec(cookie ?? "") ?? [];
  const known = Object.keys(languages) as Language[];
  const [best = "en"] = preferencesIn(headers, "accept-language").languages(known) as Language[];
  return known.find((code) => code === chosen) ?? best;
}
