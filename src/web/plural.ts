/** Formats counts, dates and times in a language, such as “3 drivers”. */

/** The text for each CLDR plural category of whole numbers. `#` stands for the count. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>>;

/** Creating formats takes longer than rendering a page, so each language's are kept. */
const formats = new Map<string, ReturnType<typeof createFormats>>();

function createFormats(language: string) {
  return {
    plurals: new Intl.PluralRules(language),
    numbers: new Intl.NumberFormat(language),
    dates: new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }),
  };
}

function formatsOf(language: string) {
  const kept = formats.get(language) ?? createFormats(language);
  formats.set(language, kept);
  return kept;
}

export function countIn(language: string, count: number, forms: Forms): string {
  const { plurals, numbers } = formatsOf(language);
  return (forms[plurals.select(count)] ?? "#").replace("#", numbers.format(count));
}

/** The date in UTC. */
export function dateIn(language: string, time: string): string {
  return formatsOf(language).dates.format(new Date(time));
}

/** A waiting time such as 59:05 or 1:00:00. The page's script calls this too. */
export function clockOf(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [first = 0, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return [first, ...rest.map((part) => String(part).padStart(2, "0"))].join(":");
}
