/** Draws avatars, badges and the page's icon. The same input always gives the same bytes. */
import type { Achievement } from "../domain/model.ts";
import { fold } from "../search/fold.ts";
import badges from "./badges.json" with { type: "json" };
import { textColourOn } from "./brand.ts";
import { html } from "./html.ts";
import { type Covers, drawPng } from "./png.ts";

/** Patterns behind the initials: hills, lanes, tunnels and so on, in a 64×64 view box. */
const patterns: { path: string; covers: Covers }[] = [
  {
    path: "M-8 50 Q12 26 32 40 T72 30 V72 H-8Z",
    // Two quadratic Bézier curves, which meet at x = 32.
    covers: (x, y, t = ((x + 8) % 40) / 40) =>
      y > (x < 32 ? 50 - 48 * t + 38 * t * t : 40 + 28 * t - 38 * t * t),
  },
  { path: "M32 0 L64 64 H0Z", covers: (x, y) => y > 2 * Math.abs(x - 32) },
  { path: "M0 0 H64 L0 64Z", covers: (x, y) => x + y < 64 },
  { path: "M24 0 H40 L56 64 H8Z", covers: (x, y) => Math.abs(x - 32) < 8 + y / 4 },
  {
    path: "M0 32 A32 32 0 0 1 64 32 V64 H0Z",
    covers: (x, y) => y > 32 || (x - 32) ** 2 + (y - 32) ** 2 < 32 ** 2,
  },
  {
    path: "M0 20 H64 V32 H0Z M0 44 H64 V56 H0Z",
    covers: (_, y) => (y > 20 && y < 32) || (y > 44 && y < 56),
  },
  {
    path: "M32 4 L60 32 L32 60 L4 32Z",
    covers: (x, y) => Math.abs(x - 32) + Math.abs(y - 32) < 28,
  },
];

/** Saturation and lightness of the ground and the pattern, in percent. The id gives the hue. */
const tones: [saturation: number, lightness: number][] = [
  [48, 30],
  [52, 40],
];

export function drawAvatar(id: number, name: string): string {
  const [ground, fill] = tones.map(([s, l]) => `hsl(${hueOf(id)} ${s}% ${l}%)`);
  const monogram = monogramOf(name);
  const size = monogram.length > 1 ? 25 : 32;
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="256" height="256"><rect width="64" height="64" fill="${ground}"/><path d="${patterns[id % patterns.length]?.path}" fill="${fill}"/><text x="32" y="33" text-anchor="middle" dominant-baseline="central" font-family="system-ui,'Noto Sans',sans-serif" font-size="${size}" font-weight="700" fill="#fff">${monogram}</text></svg>`
    .text;
}

/** Multiples of the golden angle, which keeps the hues of consecutive ids far apart. */
const hueOf = (id: number) => Math.round((id * 137.508) % 360);

/** Draws the avatar as a 256×256 PNG, without the initials because Roadbook ships no font. */
export function drawAvatarPng(id: number): Uint8Array<ArrayBuffer> {
  const [ground = [], fill = []] = tones.map(([s, l]) => toRgb(hueOf(id), s, l));
  return drawPng(patterns[id % patterns.length]?.covers ?? (() => false), ground, fill);
}

/** Converts HSL to RGB as described in CSS Color 4, section 7.1. */
function toRgb(hue: number, saturation: number, lightness: number): number[] {
  const amplitude = (saturation / 100) * Math.min(lightness, 100 - lightness);
  return [0, 8, 4].map((offset) => {
    const k = (offset + hue / 30) % 12;
    return Math.round(2.55 * (lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  });
}

/** The initials: the first letters of the first and last words that contain a letter. */
function monogramOf(name: string): string {
  const words = name.normalize("NFC").split(/[\s._|[\](){}-]+/u);
  const letters = words.flatMap((word) => /[\p{L}\p{N}]\p{M}*/u.exec(word)?.[0] ?? []);
  const [first = "?", ...others] = letters.map((letter) => letter.toUpperCase());
  return first + (others.at(-1) ?? "");
}

/**
 * Each symbol is lines in a 24×24 view box, and the folded beginnings of words that it stands for,
 * in the page's languages. The first symbol that fits wins.
 */
const symbols = Object.values(badges).map(({ path, words }) => {
  return { path, words: new RegExp(`(?<![\\p{L}\\p{N}])(?:${words})`, "u") };
});

/** Chosen by the achievement's name, or else by its kind. */
function symbolOf(...texts: string[]): string | undefined {
  const folded = texts.map((text) => fold(text).replaceAll("_", " "));
  return folded.flatMap((text) => symbols.find(({ words }) => words.test(text))?.path ?? [])[0];
}

/** Rim colours by tier: bronze, silver, gold, and two for higher tiers. */
const rims = ["#a8703f", "#8f989f", "#d9a400", "#2a9d8f", "#7b5ea7"];

/** A badge without a symbol is the background of a picture, which may be transparent. */
export function drawBadge(
  { name, type, tier, points }: Pick<Achievement, "name" | "type" | "tier" | "points">,
  hasSymbol = true,
): string {
  const hue = hash(type) % 360;
  const rim = rims[Math.min(Math.max(tier, 1), rims.length) - 1] ?? "";
  const path = hasSymbol && symbolOf(name, type);
  const number = compactNumbers.format(points);
  const symbol = path
    ? html`<path d="${path}" transform="translate(16.4 16.4) scale(1.3)" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/>`
    : html`<circle cx="32" cy="32" r="16.5" fill="none" stroke="#fff" stroke-width="2.8"/><text x="32" y="32.5" text-anchor="middle" dominant-baseline="central" font-family="system-ui,'Noto Sans',sans-serif" font-size="${Math.min(17, 36 / number.length)}" font-weight="800" fill="#fff">${number}</text>`;
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="128" height="128"><path d="M32 2L58 17V47L32 62L6 47V17Z" fill="${rim}" stroke="${rim}" stroke-width="4" stroke-linejoin="round"/><path d="M32 7L53.5 19.5V44.5L32 57L10.5 44.5V19.5Z" fill="hsl(${hue} 45% 24%)"/><path d="M32 7L53.5 19.5V44.5Z" fill="hsl(${hue} 45% 30%)"/>${hasSymbol && symbol}</svg>`
    .text;
}

/** Short enough for a badge, such as 12K. */
const compactNumbers = new Intl.NumberFormat("en", { notation: "compact" });

export function drawFavicon(accent: string): string {
  const road = textColourOn(accent);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect x="2" y="2" width="60" height="60" rx="14" fill="${accent}"/><path d="M25 12 H39 L52 52 H12Z" fill="${road}"/><path d="M30.5 16 H33.5 L34 24 H30Z M29.5 29 H34.5 L35 38 H29Z M28.5 43 H35.5 L36 52 H28Z" fill="${accent}"/></svg>`;
}

/** Whether the icon's road covers a point of its 64×64 view box. */
export function coversRoad(x: number, y: number): boolean {
  const fromMiddle = Math.abs(x - 32);
  const isDash = (y > 16 && y < 24) || (y > 29 && y < 35) || y > 43;
  if (isDash && fromMiddle < 1.5 + (y - 16) * 0.07) return false;
  return y > 12 && y < 52 && fromMiddle < 7 + ((y - 12) * 13) / 40;
}

/** The 32-bit FNV-1a hash of the text's UTF-16 code units. */
function hash(text: string): number {
  const step = (bits: number, unit: string) => Math.imul(bits ^ unit.charCodeAt(0), 0x01000193);
  return text.split("").reduce(step, 0x811c9dc5) >>> 0;
}
