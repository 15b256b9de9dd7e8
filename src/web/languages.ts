/**
 * The page's texts in each language. To add one, copy texts/en.json, translate it and list it here.
 * German, Spanish and Polish are informal, French and Czech formal. Polish and Czech avoid past
 * tenses, which would depend on the reader's gender.
 */
import type Negotiator from "negotiator";
import cs from "./texts/cs.json" with { type: "json" };
import de from "./texts/de.json" with { type: "json" };
import en from "./texts/en.json" with { type: "json" };
import es from "./texts/es.json" with { type: "json" };
import fr from "./texts/fr.json" with { type: "json" };
import pl from "./texts/pl.json" with { type: "json" };

/** The text for each CLDR plural category of whole numbers. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>>;

export type Texts = {
  [Key in keyof typeof en]: (typeof en)[Key] extends { one: string } ? Forms : (typeof en)[Key];
};

/** Written out, because the package's types must not depend on the texts. */
export type Language = "en" | "de" | "pl" | "fr" | "es" | "cs";

export const languages: Record<Language, Texts> = { en, de, pl, fr, es, cs };

/** A kiosk's visitor chooses a language, which the script keeps in a cookie until it is idle. */
export function languageFor(preferences: Negotiator, cookie: string | null): Language {
  const [, chosen] = /(?:^|;)\s*language=(\w+)/.exec(cookie ?? "") ?? [];
  const known = Object.keys(languages) as Language[];
  const [best = "en"] = preferences.languages(known) as Language[];
  return known.find((each) => each === chosen) ?? best;
}

export type Translation = ReturnType<typeof translate>;

const translations: Partial<Record<Language, Translation>> = {};

/** Creating formats takes longer than rendering a page, so they are kept for each language. */
export function translationIn(language: Language): Translation {
  translations[language] ??= translate(language);
  return translations[language];
}

function translate(language: Language) {
  const texts: Texts = languages[language];
  const plurals = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  const dates = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" });
  return {
    texts,
    formatNumber: (value: number) => numbers.format(value),
    formatDate: (time: string) => dates.format(new Date(time)),
    formatCount: (count: number, forms: Forms) =>
      fill(forms[plurals.select(count)] ?? "{count}", { count: numbers.format(count) }),
  };
}

/** Replaces each placeholder, such as {title}, with the value of that name. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** A waiting time such as 59:05. The page's script calls this too. */
export function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
