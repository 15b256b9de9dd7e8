/** Draws what users and companies call themselves: full names, handles, tags, in many scripts. */
import type { Random } from "./random.ts";
import {
  companyEnds,
  companyStarts,
  companyTails,
  handleEnds,
  handleStarts,
  type Language,
  languages,
  syllables,
} from "./words.ts";

const totalShare = languages.reduce((sum, { share }) => sum + share, 0);

export function drawLanguage(random: Random): Language {
  let at = random.below(totalShare);
  for (const language of languages) {
    if (at < language.share) return language;
    at -= language.share;
  }
  return languages[0];
}

/** A company's name, and the tag its members may wear: most have one. */
export function drawCompany(random: Random): { name: string; tag: string; language: Language } {
  const language = drawLanguage(random);
  const { places, trades } = language;
  let name: string;
  const style = random.next();
  if (style < 0.35) name = `${random.pick(places)} ${random.pick(trades)}`;
  else if (style < 0.55) name = `${drawSurname(random, language)} ${random.pick(trades)}`;
  else if (style < 0.6) name = `${drawFull(random, language)} ${random.pick(trades)}`;
  else name = `${random.pick(companyStarts)} ${drawEnd(random, language)}`;
  if (random.chance(0.3)) name += ` ${random.pick(companyTails)}`;
  return { name, tag: random.chance(0.7) ? tagOf(random, name) : "", language };
}

function drawEnd(random: Random, { places }: Language): string {
  const end = random.pick(companyEnds);
  return random.chance(0.3) ? `${random.pick(places)} ${end}` : end;
}

/** The initials, or the beginning of the first word. */
function tagOf(random: Random, name: string): string {
  const words = name.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word !== "");
  const tag =
    words.length > 2 || random.chance(0.3)
      ? words.map((word) => [...word][0]).join("")
      : [...(words[0] ?? "")].slice(0, 2 + random.below(4)).join("");
  return tag.toUpperCase();
}

/** What a user is called; members of a company often wear its tag. */
export function drawName(random: Random, language: Language, tag: string): string {
  const name = drawBareName(random, language);
  if (tag === "" || random.chance(0.4)) return name;
  const mark = random.next();
  if (mark < 0.75) return `[${tag}] ${name}`;
  return mark < 0.9 ? `${tag} | ${name}` : `${name} (${tag})`;
}

function drawBareName(random: Random, language: Language): string {
  const style = random.next();
  const first = random.pick(language.first);
  if (style < 0.27) return drawFull(random, language);
  if (style < 0.33) return `${first} ${[...drawSurname(random, language)][0]}.`;
  if (style < 0.37) return first;
  if (style < 0.47) return `${first}${random.chance(0.3) ? "_" : ""}${drawNumber(random)}`;
  if (style < 0.51) return `xX_${first}_Xx`;
  if (style < 0.56) return `${random.pick(handleStarts)} ${first}`;
  if (style < 0.6) return `${first} ${random.pick(["🚛", "🚚", "™", "✌️", "[PL]", "| TTV"])}`;
  if (style < 0.82) return drawHandle(random);
  return drawNickname(random);
}

function drawFull(random: Random, language: Language): string {
  const first = random.pick(language.first);
  return language.full.replace(/[GF]/g, (part) =>
    part === "G" ? first : drawSurname(random, language),
  );
}

function drawSurname(random: Random, { stems, endings }: Language): string {
  return random.pick(stems) + random.pick(endings);
}

function drawHandle(random: Random): string {
  const join = random.pick(["", "", "", "_", " ", "-", "."]);
  const handle = random.pick(handleStarts) + join + random.pick(handleEnds);
  const cased = random.chance(0.25) ? handle.toLowerCase() : handle;
  return random.chance(0.45) ? cased + drawNumber(random) : cased;
}

/** Something to pronounce, and rarely taken. */
function drawNickname(random: Random): string {
  let name = "";
  for (let count = 2 + random.below(3); count > 0; count--) name += random.pick(syllables);
  const style = random.next();
  if (style < 0.15) return name.toUpperCase();
  if (style < 0.65) name = name.slice(0, 1).toUpperCase() + name.slice(1);
  return random.chance(0.35) ? name + drawNumber(random) : name;
}

/** Years of birth more than anything else. */
function drawNumber(random: Random): string {
  const style = random.next();
  if (style < 0.4) return String(1960 + random.below(55)).slice(2);
  if (style < 0.6) return String(1970 + random.below(40));
  return String(random.below(style < 0.8 ? 100 : 10_000));
}
