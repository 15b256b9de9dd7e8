/** Formats texts, counts and dates, as the visitor's region does. */
import { LRUCache } from "lru-cache";
import type { Forms } from "../domain/languages.ts";
import { lazy } from "../domain/lazy.ts";
import { fill } from "./texts.ts";

export type Formats = ReturnType<typeof createFormats>;

/**
 * Some are kept, because creating formats takes longer than rendering a page, but a client could name
 * a thousand regions.
 */
const cachedFormats = lazy(() => new LRUCache({ max: 100, memoMethod: createFormats }));

/** `locale` is a language, perhaps with a region, such as `en-GB`. */
export const formatsIn = (locale: string): Formats => cachedFormats().memo(locale);

function createFormats(locale: string) {
  // Each is made when it is first needed, because a format of dates takes up to 10 ms.
  const plurals = lazy(() => new Intl.PluralRules(locale));
  const numbers = lazy(() => new Intl.NumberFormat(locale));
  const dates = lazy(() => {
    return new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });
  });
  return {
    formatNumber: (value: number) => numbers().format(value),
    formatDate: (time: string) => dates().format(new Date(time)),
    formatPlural: (count: number, forms: Forms) =>
      fill(forms[plurals().select(count)] ?? forms.other ?? "", { count: numbers().format(count) }),
  };
}
