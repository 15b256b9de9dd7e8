/** Counted things in a language: each of its plural forms, with the count where the form has a `#`. */

/** The forms that whole numbers take, by their names in Unicode's rules. */
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
