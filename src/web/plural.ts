/** Formats counts in a language, such as “3 drivers”. */

/** The text for each CLDR plural category of whole numbers. `#` stands for the count. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>>;

export type Plural = ((count: number) => string) & { forms: Forms };

export function pluralsOf(language: string): (forms: Forms) => Plural {
  const rules = new Intl.PluralRules(language);
  return (forms) => {
    const format = (count: number) =>
      (forms[rules.select(count)] ?? "#").replace("#", count.toLocaleString(language));
    return Object.assign(format, { forms });
  };
}
