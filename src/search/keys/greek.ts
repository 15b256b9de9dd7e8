/** Names in Greek: as passports spell them, and as people do who write by ear. */
import { replaceBy } from "./alphabets.ts";

const letters = `α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y
  φ f χ h ψ ps ω o`;

/** ELOT 743, which is ISO 843 type 2. */
const official = "ου ou γγ ng γξ nx γχ nch γκ gk";
const byEar = `ου ou γγ ng γκ g ει i οι i υι i αι e μπ b ντ d
  γιά ya για ya γιο yo γιό yo γιω yo γιώ yo γιου you γε ye τζ tz`;

/** Letters that look alike, as in chats. */
const alike = "η h ω w χ x ου ou";
const allAlike = "β b η h ω w χ x ου ou";

const spellOfficial = replaceBy(letters, official);
const spellWithCh = replaceBy(letters, official, "χ ch");
const spellByEar = replaceBy(letters, byEar);
const spellAlike = replaceBy(letters, alike);
const spellAllAlike = replaceBy(letters, allAlike);

/** Returns the Latin spellings of a name in lower case. */
export function spellGreek(text: string): string[] {
  const bare = withoutAccents(text);
  const spoken = asSpoken(bare);
  return [
    spellOfficial(spoken),
    spellByEar(spoken),
    spellAllAlike(bare),
    spellAlike(asWritten(bare)),
    spellByEar(asWritten(bare)),
  ];
}

/** Returns the Latin spellings of a query in lower case. */
export function spellGreekInUse(text: string): string[] {
  const spoken = asSpoken(withoutAccents(text));
  return [spellWithCh(spoken), spellOfficial(spoken), spellByEar(spoken)];
}

/** A diaeresis keeps two vowels apart: in αϋ, the υ is y. */
const withoutAccents = (text: string) =>
  text
    .normalize("NFD")
    .replace(/[\u0300-\u0307\u0309-\u036f]/g, "")
    .replace(/ι\u0308/g, "i")
    .replace(/υ\u0308/g, "y");

/** After α, ε and η, υ is a consonant. At the start of a word, μπ is b. */
const asSpoken = (text: string) =>
  text
    .replace(/([αεη])υ(?=[βγδζλμνραειουηω])/g, "$1v")
    .replace(/([αεη])υ/g, "$1f")
    .replace(/(?<!\p{L})μπ/gu, "b");

const asWritten = (text: string) => text.replace(/([αεη])υ/g, "$1u");
