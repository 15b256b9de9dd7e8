/**
 * Generates random names in many scripts from the words and the weighted patterns in
 * data/words.json. A random word replaces each `{placeholder}` in a pattern or another word.
 */
import data from "../../data/words.json" with { type: "json" };
import type { Random } from "../domain/random.ts";

export interface CompanyName {
  name: string;
  /** A short tag that members add to their names; empty if the company has none. */
  tag: string;
  language: string;
}

export function drawCompanyName(random: Random): CompanyName {
  const { code: language, companies, men } = random.pick(byShare);
  const name = fill(random, random.pick(companies), men);
  // Four characters if the name has that many, because two or three may spell a rude word.
  const [letters = ""] = /^[\p{L}\p{M}\p{N}]{0,4}/u.exec(name) ?? [];
  return { name, tag: random.chance(0.3) ? "" : letters.toUpperCase(), language };
}

/** Members mostly use the company's language and often add its tag. */
export function drawUserName(random: Random, company: CompanyName | undefined): string {
  const own =
    company && random.chance(0.85) && languages.find(({ code }) => code === company.language);
  const { users, men, women } = own || random.pick(byShare);
  const name = fill(random, random.pick(users), random.chance(0.22) ? women : men);
  if (!company?.tag) return name;
  return fill(random, random.pick(tagged), { name: [[name]], tag: [[company.tag]] });
}

/** Alternates between literal text and placeholders, starting with text. */
type Pattern = string[];
/** The words for each placeholder. */
type Words = Record<string, Pattern[]>;

const parse = (text: string): Pattern => text.split(/[{}]/);

function parseWords(words: Record<string, string>): Words {
  const lists = Object.entries(words);
  return Object.fromEntries(lists.map(([key, text]) => [key, text.split(" ").map(parse)]));
}

/** Repeats each pattern as often as its weight says. */
function parseWeighted(patterns: Record<string, number>): Pattern[] {
  return Object.entries(patterns).flatMap(([text, weight]) =>
    Array<Pattern>(weight).fill(parse(text)),
  );
}

const tagged = parseWeighted(data.tagged);
const languages = data.languages.map((language) => {
  const { code, share, men, women, surnames, full = "{given} {surname}" } = language;
  const words = { ...parseWords(data.words), ...parseWords(language.words), full: [parse(full)] };
  const wordsOf = (given: string, form: number): Words => {
    // Each surname is one name (`Nowak`) or a masculine and a feminine form (`Novák/Nováková`).
    const surname = surnames.split(" ").map((name) => [name.split("/").at(form) ?? ""]);
    return { ...words, ...parseWords({ given }), surname };
  };
  const { users, companies } = language.ownScript ? data.ownScript : data.latin;
  return {
    code,
    share,
    men: wordsOf(men, 0),
    women: wordsOf(women, -1),
    users: parseWeighted(users),
    companies: parseWeighted(companies),
  };
});
const byShare = languages.flatMap((language) =>
  Array<typeof language>(language.share).fill(language),
);

function fill(random: Random, pattern: Pattern, words: Words): string {
  return pattern.reduce(
    (text, part, at) =>
      text + (at % 2 ? fill(random, random.pick(words[part] ?? []), words) : part),
    "",
  );
}
