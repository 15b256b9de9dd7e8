/** Draws avatars, badges and the icon, always with the same bytes. */
import { languages } from "../domain/languages.ts";
import { lazy } from "../domain/lazy.ts";
import type { Achievement } from "../domain/model.ts";
import { fold } from "../search/fold.ts";
import paths from "./badges.json" with { type: "json" };
import { textColourOn } from "./brand.ts";
import { type Html, html } from "./html.ts";

/** Patterns behind the initials: hills, lanes, tunnels and so on, in a 64×64 view box. */
const patterns = [
  "M-8 50 Q12 26 32 40 T72 30 V72 H-8Z",
  "M32 0 L64 64 H0Z",
  "M0 0 H64 L0 64Z",
  "M24 0 H40 L56 64 H8Z",
  "M0 32 A32 32 0 0 1 64 32 V64 H0Z",
  "M0 20 H64 V32 H0Z M0 44 H64 V56 H0Z",
  "M32 4 L60 32 L32 60 L4 32Z",
];

export function drawAvatar(id: number, name: string): string {
  // Multiples of the golden angle, which keeps the hues of consecutive ids far apart.
  const hue = Math.round((id * 137.508) % 360);
  const monogram = monogramOf(name);
  const size = monogram.length > 1 ? 25 : 32;
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="256" height="256"><rect width="64" height="64" fill="hsl(${hue} 48% 30%)"/><path d="${patterns[id % patterns.length]}" fill="hsl(${hue} 52% 40%)"/><text x="32" y="33" text-anchor="middle" dominant-baseline="central" font-family="system-ui,'Noto Sans',sans-serif" font-size="${size}" font-weight="700" fill="#fff">${monogram}</text></svg>`
    .text;
}

/** The initials: the first letters of the first and last words that contain a letter. */
function monogramOf(name: string): string {
  const words = name.normalize("NFC").split(/[\s._|[\](){}-]+/u);
  const letters = words.flatMap((word) => /[\p{L}\p{N}]\p{M}*/u.exec(word)?.[0] ?? []);
  const [first = "?", ...others] = letters.map((letter) => letter.toUpperCase());

  const last = others.at(-1);
  if (last === undefined) return first;
  // Letters of these scripts would join into a word.
  const joins = /[\p{Script=Arabic}\p{Script=Syriac}]/u.test(first);
  return joins ? `${first}\u200c${last}` : first + last;
}

/** Each is strokes in a 24×24 view box, and folded beginnings of words in any of the languages. */
const symbols = lazy(() =>
  (Object.keys(paths) as (keyof typeof paths)[]).map((name) => {
    const words = Object.values(languages).map(({ badges }) => badges[name]);
    return {
      path: paths[name],
      words: new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})`, "u"),
    };
  }),
);

function symbolOf(text: string): string | undefined {
  const folded = fold(text).replaceAll("_", " ");
  return symbols().find(({ words }) => words.test(folded))?.path;
}

/** A symbol for the name, or else for the kind, or else a cup, above the points. */
function drawMotif({ name, type, points }: Medal): Html {
  const symbol = symbolOf(name) ?? symbolOf(type) ?? paths.cup;

  const number = compactNumbers().format(points);
  const size = Math.min(13, 44 / number.length);
  return html`<path d="${symbol}" transform="translate(19.4 10.5) scale(1.05)" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/><text x="32" y="44.5" text-anchor="middle" dominant-baseline="central" font-family="system-ui,'Noto Sans',sans-serif" font-size="${size}" font-weight="800" fill="#fff">${number}</text>`;
}

/** Rim colours by tier: bronze, silver, gold, and two for higher tiers. */
const rims = ["#a8703f", "#8f989f", "#d9a400", "#2a9d8f", "#7b5ea7"];

type Medal = Pick<Achievement, "name" | "type" | "tier" | "points">;

/** A badge without a symbol is the background of a picture, which may be transparent. */
export function drawBadge(medal: Medal, hasSymbol = true): string {
  const { type, tier } = medal;
  const hue = [...type].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 0);
  const rim = rims[Math.min(Math.max(tier, 1), rims.length) - 1] ?? "";
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="128" height="128"><path d="M32 2L58 17V47L32 62L6 47V17Z" fill="${rim}" stroke="${rim}" stroke-width="4" stroke-linejoin="round"/><path d="M32 7L53.5 19.5V44.5L32 57L10.5 44.5V19.5Z" fill="hsl(${hue} 45% 24%)"/><path d="M32 7L53.5 19.5V44.5Z" fill="hsl(${hue} 45% 30%)"/>${hasSymbol && drawMotif(medal)}</svg>`
    .text;
}

const compactNumbers = lazy(() => {
  return new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
});

export function drawFavicon(accent: string): string {
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect x="2" y="2" width="60" height="60" rx="14" fill="${accent}"/><path d="M25 12 H39 L52 52 H12Z" fill="${textColourOn(accent)}"/><path d="M30.5 16 H33.5 L34 24 H30Z M29.5 29 H34.5 L35 38 H29Z M28.5 43 H35.5 L36 52 H28Z" fill="${accent}"/></svg>`
    .text;
}
