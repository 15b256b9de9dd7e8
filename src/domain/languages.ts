/**
 * The languages of the page. A file in data/languages holds everything that is written in one
 * language: the page's texts, the words for true and false that spreadsheets and people write, and
 * beginnings of words, by the drawing that a badge gets if its achievement's name contains one.
 */
import cs from "../../data/languages/cs.json" with { type: "json" };
import de from "../../data/languages/de.json" with { type: "json" };
import en from "../../data/languages/en.json" with { type: "json" };
import es from "../../data/languages/es.json" with { type: "json" };
import fr from "../../data/languages/fr.json" with { type: "json" };
import pl from "../../data/languages/pl.json" with { type: "json" };

/** The text for each CLDR plural category of whole numbers. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>>;

export type Texts = {
  [Key in keyof typeof en]: (typeof en)[Key] extends { one: string } ? Forms : (typeof en)[Key];
};

/** Written out, because the package's types must not depend on the texts. */
export type Language = "en" | "de" | "pl" | "fr" | "es" | "cs";

/** In the order of the help, and of a kiosk's buttons. */
export const languages: Record<Language, Texts> = { en, de, pl, fr, es, cs };
export const languageCodes = Object.keys(languages) as Language[];
