/** Names in Greek: as passports spell them, and as people do who write by ear. */
import { replaceBy } from "./table.ts";

const letters = `α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y
  φ f χ h ψ ps ω o`;

/** ELOT 743, which is ISO 843 type 2. */
const official = "ου ou γγ ng γξ nx γχ nch γκ gk";
const byEar = `ου ou γγ ng γκ g ει i οι i υι i αι e μπ b ντ d
  γιά ya για ya γιο yo γιό yo γιω yo γιώ yo γιου you γε ye τζ tz`;

const spellOfficial = replaceBy(letters, official);
const spellByEar = replaceBy(letters, byEar);

/** Returns the Latin spellings of a text in lower case. */
export function spellGreek(text: string): string[] {
  const bare = text.normalize("NFD").replace(/[\u0300-\u0307\u0309-\u036f]/g, "");
  // A diaeresis keeps two vowels apart: in αϋ, the υ is y.
  const letters = bare.replace(/ι\u0308/g, "i").replace(/υ\u0308/g, "y");
  const consonants = letters
    .replace(/([αεη])υ(?=[βγδζλμνραειουηω])/g, "$1v")
    .replace(/([αεη])υ/g, "$1f")
    .replace(/(?<![α-ω])μπ/g, "b");
  const vowels = letters.replace(/([αεη])υ/g, "$1u");
  return [spellOfficial(consonants), spellByEar(consonants), spellByEar(vowels)];
}
