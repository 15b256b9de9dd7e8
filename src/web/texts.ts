/**
 * The page's languages. In each browser script, assets.ts replaces this module with one that has a
 * single language.
 */
import { cs } from "./texts/cs.ts";
import { de } from "./texts/de.ts";
import { en, type Texts } from "./texts/en.ts";
import { es } from "./texts/es.ts";
import { fr } from "./texts/fr.ts";
import { pl } from "./texts/pl.ts";

export type { Texts } from "./texts/en.ts";

export const languages = { en, de, pl, fr, es, cs } satisfies Record<string, Texts>;

export type Language = keyof typeof languages;

export const DEFAULT_LANGUAGE: Language = "en";

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text);
}
