/** Formats texts, counts and dates in the page's language. */
import { type Forms, type Language, languages, type Texts } from "../domain/languages.ts";
import { lazy } from "../domain/once.ts";

export type Translation = ReturnType<typeof translate>;

const translations: Partial<Record<Language, Translation>> = {};

/** Formats are kept for each language, because creating them takes longer than rendering a page. */
export function translationIn(language: Language): Translation {
  translations[language] ??= translate(language);
  return translations[language];
}

function translate(language: Language) {
  const texts: Texts = languages[language];
  // A format of dates takes up to 10 ms.
  const plurals = lazy(() => new Intl.PluralRules(language));
  const numbers = lazy(() => new Intl.NumberFormat(language));
  const dates = lazy(() => {
    return new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" });
  });
  return {
    texts,
    formatNumber: (value: number) => numbers().format(value),
    formatDate: (time: string) => dates().format(new Date(time)),
    formatCount: (count: number, forms: Forms) =>
      fill(forms[plurals().select(count)] ?? "{count}", { count: numbers().format(count) }),
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
