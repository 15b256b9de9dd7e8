/** Draws avatars, badges and the page's icon. The same input always gives the same bytes. */
import type { Achievement } from "../domain/model.ts";
import { rgbOf, textColourOn } from "./brand.ts";
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

const glyphs = [
  "M32 17 L36 28 H48 L38 35 L42 47 L32 40 L22 47 L26 35 L16 28 H28Z",
  "M24 48 L29 17 H35 L40 48 H34 L33 40 H31 L30 48Z",
  "M18 44 L32 18 L46 44 H38 L32 33 L26 44Z",
  "M20 24 H36 V20 L46 29 L36 38 V34 H20Z",
  "M32 17 A15 15 0 1 0 47 32 H40 A8 8 0 1 1 32 24Z",
  "M18 22 H38 V28 H44 L48 34 V42 H18Z",
  "M35 16 L20 36 H30 L27 48 L44 27 H34Z",
  "M20 18 H26 V47 H20Z M28 19 H46 L41 26 L46 33 H28Z",
  "M32 16 L46 32 L32 48 L18 32Z M32 26 L27 32 L32 38 L37 32Z",
];

/** Rim colours by tier: bronze, silver, gold, and two for higher tiers. */
const rims = ["#a8703f", "#8f989f", "#d9a400", "#2a9d8f", "#7b5ea7"];

/** A badge without a symbol is the background of a picture, which may be transparent. */
export function drawBadge(
  { name, type, tier }: Pick<Achievement, "name" | "type" | "tier">,
  hasSymbol = true,
): string {
  const hue = hash(type) % 360;
  const glyph = glyphs[hash(name) % glyphs.length];
  const rotation = (hash(`${name}/turn`) % 6) * 60;
  const rim = rims[Math.min(Math.max(tier, 1), rims.length) - 1] ?? "";
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="128" height="128"><path d="M32 2 L58 17 V47 L32 62 L6 47 V17Z" fill="${rim}" stroke="${rim}" stroke-width="4" stroke-linejoin="round"/><path d="M32 8 L53 20 V44 L32 56 L11 44 V20Z" fill="hsl(${hue} 45% 24%)"/><path d="M32 8 L53 20 V44Z" fill="hsl(${hue} 45% 32%)" transform="rotate(${rotation} 32 32)"/>${hasSymbol && html`<path d="${glyph}" fill="#fff" fill-rule="evenodd"/>`}</svg>`
    .text;
}

export function drawFavicon(accent: string): string {
  const road = textColourOn(accent);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect x="2" y="2" width="60" height="60" rx="14" fill="${accent}"/><path d="M25 12 H39 L52 52 H12Z" fill="${road}"/><path d="M30.5 16 H33.5 L34 24 H30Z M29.5 29 H34.5 L35 38 H29Z M28.5 43 H35.5 L36 52 H28Z" fill="${accent}"/></svg>`;
}

/** The icon's road on a square, as a 256×256 PNG, because few programs preview SVGs. */
export function drawSignPng(accent: string): Uint8Array<ArrayBuffer> {
  const [ground = [], road = []] = [accent, textColourOn(accent)].map(rgbOf);
  return drawPng(coversRoad, ground, road);
}

function coversRoad(x: number, y: number): boolean {
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
