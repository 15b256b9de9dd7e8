/** The languages of the page, and which one a reader gets. */
import { de } from "./texts/de.ts";
import { en, type Texts } from "./texts/en.ts";

export type { Texts } from "./texts/en.ts";

export const languages = { en, de } satisfies Record<string, Texts>;

export type Language = keyof typeof languages;

export const DEFAULT_LANGUAGE: Language = "en";

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text);
}
