/** Formats texts, counts and dates in the page's language, as the visitor's region does. */
import { type Forms, type Language, languages, type Texts } from "../domain/languages.ts";
import { lazy } from "../domain/once.ts";

export type Translation = ReturnType<typeof translate>;

const MAX_KEPT = 100;
const kept = new Map<string, Translation>();

/**
 * `locale` is the language, perhaps with a region, such as `en-GB`. Some are kept, because creating
 * formats takes longer than rendering a page, but a client could name a thousand regions.
 */
export function translationIn(language: Language, locale: string): Translation {
  const known = kept.get(locale);
  if (known) return known;
  if (kept.size >= MAX_KEPT) kept.clear();
  const translation = translate(language, locale);
  kept.set(locale, translation);
  return translation;
}

function translate(language: Language, locale: string) {
  const texts: Texts = languages[language];
  // A format of dates takes up to 10 ms.
  const plurals = lazy(() => new Intl.PluralRules(locale));
  const numbers = lazy(() => new Intl.NumberFormat(locale));
  const dates = lazy(() => {
    return new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });
  });
  return {
    texts,
    formatNumber: (value: number) => numbers().format(value),
    formatDate: (time: string) => dates().format(new Date(time)),
    formatPlural: (count: number, forms: Forms) =>
      fill(forms[plurals().select(count)] ?? forms.other ?? "", { count: numbers().format(count) }),
  };
}

/** Replaces the word for drivers by the plural of a community's own, which has no other forms. */
export function callPeople(people: string | undefined, texts: Texts): Texts {
  if (people === undefined) return texts;
  const counted = `${people}: {count}`;
  return {
    ...texts,
    drivers: people,
    featured: people,
    driversOf: `{title}: ${people}`,
    driverCount: { other: counted },
    firstDrivers: counted,
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
