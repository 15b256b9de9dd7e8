/**
 * Draws what users and companies call themselves, in many scripts. The words and the patterns they
 * are put together by are data/words.json; a pattern's `{word}` is drawn anew each time, its number
 * is the pattern's weight.
 */
import words from "../../data/words.json" with { type: "json" };
import type { Random } from "./random.ts";

export interface CompanyName {
  name: string;
  /** What members wear beside their names; "" for none. */
  tag: string;
  /** The code of a language in data/words.json, which most members speak. */
  language: string;
}

/** A company's name, and the tag its members may wear: most have one. */
export function drawCompanyName(random: Random): CompanyName {
  const language = random.pick(byShare);
  const name = draw(random, language, random.pick(language.companies), false);
  if (random.chance(0.3)) return { name, tag: "", language: language.code };
  // Four letters, as the first two or three of a word may be a rude word of their own.
  const [letters = ""] = /^[\p{L}\p{M}\p{N}]{0,4}/u.exec(name) ?? [];
  return { name, tag: letters.toUpperCase(), language: language.code };
}

/** What a user is called; members of a company mostly speak its language, and often wear its tag. */
export function drawUserName(random: Random, company: CompanyName | undefined): string {
  const own = company && random.chance(0.85) ? languages.get(company.language) : undefined;
  const language = own ?? random.pick(byShare);
  const patterns = random.chance(words.handleShare) ? language.handles : language.users;
  const name = draw(random, language, random.pick(patterns), random.chance(0.22));
  if (!company?.tag || random.chance(0.4)) return name;
  const style = random.next();
  if (style < 0.75) return `[${company.tag}] ${name}`;
  return style < 0.9 ? `${company.tag} | ${name}` : `${name} (${company.tag})`;
}

/** The text around and the words inside the braces, turn about. */
type Pattern = readonly string[];

interface Language {
  code: string;
  men: string[];
  women: string[];
  /** A man's form and a woman's. */
  surnames: [string, string][];
  full: Pattern;
  places: string[];
  trades: string[];
  handles: Pattern[];
  users: Pattern[];
  companies: Pattern[];
}

const list = (text = "") => text.split(" ").filter((word) => word !== "");
const patternOf = (text: string): Pattern => text.replace("##", "{digits}").split(/[{}]/);
const common = {
  adjective: list(words.adjectives),
  noun: list(words.nouns),
  tail: list(words.tails),
  start: list(words.starts),
  end: list(words.ends),
};
const syllables = list(words.syllables);
const companyPatterns = weighted(words.companies);
const userPatterns = weighted(words.users);
const ownScriptUserPatterns = weighted(words.ownScriptUsers);
const ownScriptCompanyPatterns = weighted(words.ownScriptCompanies);

const languages = new Map<string, Language>();
/** Each language as often as its share says. */
const byShare: Language[] = [];
for (const entry of words.languages) {
  const users = entry.ownScript ? ownScriptUserPatterns : userPatterns;
  const language: Language = {
    code: entry.code,
    men: list(entry.men),
    women: list(entry.women),
    surnames: listSurnames(entry),
    full: patternOf(entry.full ?? "{given} {surname}"),
    places: list(entry.places),
    trades: list(entry.trades),
    handles: entry.handles ? list(entry.handles).map(patternOf) : users,
    users,
    companies: entry.ownScript ? ownScriptCompanyPatterns : companyPatterns,
  };
  languages.set(entry.code, language);
  for (let share = entry.share; share > 0; share--) byShare.push(language);
}

function weighted(patterns: Record<string, number>): Pattern[] {
  return Object.entries(patterns).flatMap(([text, weight]) =>
    Array<Pattern>(weight).fill(patternOf(text)),
  );
}

/** `Nowak`, `Novák/Nováková`, and each of the stems with each of the endings. */
function listSurnames(entry: { surnames?: string; stems?: string; endings?: string }) {
  const pairs = list(entry.surnames).map((name) => pairOf(name.split("/")));
  for (const stem of list(entry.stems)) {
    for (const ending of list(entry.endings)) {
      pairs.push(pairOf(ending.split("/").map((form) => stem + form)));
    }
  }
  return pairs;
}

function pairOf([man = "", woman = man]: string[]): [string, string] {
  return [man, woman];
}

function draw(random: Random, language: Language, pattern: Pattern, isWoman: boolean): string {
  let name = "";
  for (let index = 0; index < pattern.length; index++) {
    const part = pattern[index] ?? "";
    name += index % 2 === 0 ? part : drawWord(random, language, part, isWoman);
  }
  return name;
}

function drawWord(random: Random, language: Language, word: string, isWoman: boolean): string {
  switch (word) {
    case "full":
      return draw(random, language, language.full, isWoman);
    case "given":
      return random.pick(isWoman ? language.women : language.men);
    case "surname":
      return random.pick(language.surnames)[isWoman ? 1 : 0];
    case "initial":
      return [...random.pick(language.surnames)[0]][0] ?? "";
    case "place":
      return random.pick(language.places);
    case "trade":
      return random.pick(language.trades);
    case "digits":
      return String(10 + random.below(50));
    case "number":
      return drawNumber(random);
    case "nick":
      return drawNick(random);
    case "Nick": {
      const nick = drawNick(random);
      return nick.slice(0, 1).toUpperCase() + nick.slice(1);
    }
    default:
      return random.pick(common[word as keyof typeof common]);
  }
}

/** Years of birth, and numbers that stand for nothing. */
function drawNumber(random: Random): string {
  const style = random.next();
  if (style < 0.4) return String(1961 + random.below(52));
  return String(style < 0.8 ? 10 + random.below(50) : 100 + random.below(500));
}

/** Something to pronounce, and rarely taken. */
function drawNick(random: Random): string {
  let nick = "";
  for (let count = 2 + random.below(3); count > 0; count--) nick += random.pick(syllables);
  return nick;
}
