/**
 * Generates random names in many scripts. data/words.json holds the words and the weighted
 * patterns. A random word replaces each `{placeholder}` in a pattern.
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
  const name = draw(random, random.pick(companies), men);
  // Four characters if the name has that many, because two or three may spell a rude word.
  const [letters = ""] = /^[\p{L}\p{M}\p{N}]{0,4}/u.exec(name) ?? [];
  return { name, tag: random.chance(0.3) ? "" : letters.toUpperCase(), language };
}

/** Members mostly use the company's language and often add its tag. */
export function drawUserName(random: Random, company: CompanyName | undefined): string {
  const own =
    company && random.chance(0.85) && languages.find(({ code }) => code === company.language);
  const language = own || random.pick(byShare);
  const pattern = random.pick(random.chance(data.handleShare) ? language.handles : language.users);
  const drawn = draw(random, pattern, random.chance(0.22) ? language.women : language.men);
  // Most communities let only one user have a handle, so the others add digits.
  const isTaken = pattern.length === 1 && random.chance(0.9);
  const name = isTaken ? `${drawn}${10 + random.below(90)}` : drawn;
  if (!company?.tag || random.chance(0.4)) return name;
  const style = random.next();
  if (style < 0.75) return `[${company.tag}] ${name}`;
  return style < 0.9 ? `${company.tag} | ${name}` : `${name} (${company.tag})`;
}

type Words = Record<string, string[]>;

const split = (text = "") => text.split(" ").filter((word) => word !== "");
const common = {
  adjective: split(data.adjectives),
  noun: split(data.nouns),
  tail: split(data.tails),
  start: split(data.starts),
  end: split(data.ends),
};
const syllables = split(data.syllables);

const languages = data.languages.map((entry) => {
  const { code, share, ownScript, full = "{given} {surname}" } = entry;
  const stemmed = split(entry.stems).flatMap((stem) =>
    split(entry.endings).map((ending) => stem + ending.replace("/", `/${stem}`)),
  );
  // Each entry is one name (`Nowak`) or a masculine and a feminine form (`Novák/Nováková`).
  const surnames = [...split(entry.surnames), ...stemmed].map((name) => name.split("/"));
  const words = { ...common, place: split(entry.places), trade: split(entry.trades) };
  const wordsOf = (given: string, form: number): Words => {
    return { ...words, given: split(given), surname: surnames.map((name) => name.at(form) ?? "") };
  };
  const users = weighted(ownScript ? data.ownScriptUsers : data.users, full);
  return {
    code,
    share,
    men: wordsOf(entry.men, 0),
    women: wordsOf(entry.women, -1),
    users,
    handles: entry.handles ? split(entry.handles).map(parse) : users,
    companies: weighted(ownScript ? data.ownScriptCompanies : data.companies, full),
  };
});
const byShare = languages.flatMap((language) =>
  Array<typeof language>(language.share).fill(language),
);

/** Alternates between literal text and placeholder names, starting with text. */
type Pattern = string[];

function parse(pattern: string): Pattern {
  return pattern.replaceAll("##", "{digits}").split(/[{}]/);
}

/** Repeats each pattern `weight` times. `full` is the pattern for a full name in the language. */
function weighted(patterns: Record<string, number>, full: string): Pattern[] {
  return Object.entries(patterns).flatMap(([text, weight]) =>
    Array<Pattern>(weight).fill(parse(text.replace("{full}", full))),
  );
}

function draw(random: Random, pattern: Pattern, words: Words): string {
  return pattern.map((part, at) => (at % 2 ? drawWord(random, part, words) : part)).join("");
}

function drawWord(random: Random, word: string, words: Words): string {
  switch (word) {
    case "initial":
      return [...drawWord(random, "surname", words)][0] ?? "";
    case "digits":
      return String(10 + random.below(50));
    case "number": {
      // Either a year of birth or a meaningless number.
      const style = random.next();
      if (style < 0.4) return String(1961 + random.below(52));
      return String(style < 0.8 ? 10 + random.below(50) : 100 + random.below(500));
    }
    case "nick":
      // A pronounceable nickname that is rarely drawn twice.
      return Array.from({ length: 2 + random.below(3) }, () => random.pick(syllables)).join("");
    case "Nick":
      return drawWord(random, "nick", words).replace(/^./, (first) => first.toUpperCase());
    default:
      return random.pick(words[word] ?? []);
  }
}
