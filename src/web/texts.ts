/** The page's languages. */
import { cs } from "./texts/cs.ts";
import { de } from "./texts/de.ts";
import { en, type Texts } from "./texts/en.ts";
import { es } from "./texts/es.ts";
import { fr } from "./texts/fr.ts";
import { pl } from "./texts/pl.ts";

export const languages = { en, de, pl, fr, es, cs } satisfies Record<string, Texts>;

export type Language = keyof typeof languages;
