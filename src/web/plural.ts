/** Formats counts, dates and times in a language, such as “3 drivers”. */

/** The text for each CLDR plural category of whole numbers. `#` stands for the count. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>>;

export type Plural = ((count: number) => string) & { forms: Forms };

export function pluralsOf(language: string): (forms: Forms) => Plural {
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  return (forms) => {
    const format = (count: number) =>
      (forms[rules.select(count)] ?? "#").replace("#", numbers.format(count));
    return Object.assign(format, { forms });
  };
}

/** Creating a format takes longer than rendering a page, so each is kept. */
const dates = new Map<string, Intl.DateTimeFormat>();

/** The date in UTC. */
export function dateIn(language: string, time: string): string {
  let format = dates.get(language);
  if (!format) {
    format = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" });
    dates.set(language, format);
  }
  return format.format(new Date(time));
}

/** A waiting time such as 59:05 or 1:00:00. The page's script calls this too. */
export function clockOf(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [first = 0, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return [first, ...rest.map((part) => String(part).padStart(2, "0"))].join(":");
}
