/**
 * Draws the picture that link previews show: a sign with the logo, the title and a count. Roadbook
 * ships no font, so the letters are those of a dot-matrix display.
 */
import anyAscii from "any-ascii";
import { type Logo, rgbOf, textColourOn } from "./brand.ts";
import { coversRoad } from "./drawings.ts";
import letters from "./letters.json" with { type: "json" };
import { encodePng, mix, type Picture, type Rgb } from "./png.ts";

/** The size that most programs show without cropping. */
const [WIDTH, HEIGHT] = [1200, 630];
const MARGIN = 84;
const LOGO_SIZE = 170;
/** A letter is 5 dots wide and 12 high, with accents, and has a dot of space beside it. */
const [COLUMNS, ROWS] = [6, 12];
/** The lines of the title share this height. */
const TITLE_HEIGHT = 210;
const COUNT_HEIGHT = 64;
/** A title that does not fit with dots of this size is cut. */
const MIN_DOT = 6;

const glyphs: Record<string, string | undefined> = letters;

export function drawPreview(title: string, count: string, accent: string, logo: Logo | undefined) {
  const [ground, ink] = [rgbOf(accent), rgbOf(textColourOn(accent))];
  const pixels = new Uint8Array(WIDTH * HEIGHT * 3);

  function fill(colour: Rgb, left: number, top: number, width: number, height: number): void {
    const row = Buffer.alloc(width * 3, Buffer.from(colour));
    for (let y = top; y < top + height; y++) pixels.set(row, (y * WIDTH + left) * 3);
  }

  function write(line: string[], top: number, dot: number): void {
    for (const [column, rows] of line.entries()) {
      for (const [y, bits] of [...Buffer.from(rows, "hex")].entries()) {
        for (let x = 0; x < 5; x++) {
          const isSet = (bits >> (4 - x)) & 1;
          if (isSet) fill(ink, MARGIN + (column * COLUMNS + x) * dot, top + y * dot, dot, dot);
        }
      }
    }
  }

  fill(ground, 0, 0, WIDTH, HEIGHT);
  for (const [inset, colour] of [
    [26, ink],
    [36, ground],
  ] as const)
    fill(colour, inset, inset, WIDTH - 2 * inset, HEIGHT - 2 * inset);
  const colourAt = logo ? logo.picture && tileOf(logo.picture) : roadOn(ground, ink);
  for (let at = 0; colourAt && at < LOGO_SIZE ** 2; at++) {
    const [x, y] = [at % LOGO_SIZE, Math.floor(at / LOGO_SIZE)];
    const [left, right] = [0.25, 0.75].map((part) => (x + part) / LOGO_SIZE) as [number, number];
    const [top, bottom] = [0.25, 0.75].map((part) => (y + part) / LOGO_SIZE) as [number, number];
    // Four samples per pixel give smooth edges.
    const upper = mix(colourAt(left, top), colourAt(right, top), 0.5);
    const lower = mix(colourAt(left, bottom), colourAt(right, bottom), 0.5);
    pixels.set(mix(upper, lower, 0.5), ((MARGIN + y) * WIDTH + MARGIN + x) * 3);
  }
  const { lines, dot } = layOut(title);
  // Without a picture above it, the text is in the middle.
  const bottom = HEIGHT - MARGIN - (colourAt ? 0 : LOGO_SIZE / 2);
  const top = bottom - COUNT_HEIGHT - lines.length * ROWS * dot;
  for (const [at, line] of lines.entries()) write(line, top + at * ROWS * dot, dot);
  write(glyphsOf(count), bottom - COUNT_HEIGHT + 10, 5);
  return encodePng(pixels, WIDTH);
}

/** Returns a colour for each point of a square from 0 to 1. */
type ColourAt = (x: number, y: number) => Rgb;

function roadOn(ground: Rgb, road: Rgb): ColourAt {
  return (x, y) => (coversRoad(12 + 40 * x, 12 + 40 * y) ? road : ground);
}

/** The logo on white, for which most logos are made. */
function tileOf({ width, height, pixelAt }: Picture): ColourAt {
  const white = [255, 255, 255];
  const scale = Math.max(width, height) * 1.25;
  return (x, y) => {
    const [left, top] = [width / 2 + (x - 0.5) * scale, height / 2 + (y - 0.5) * scale];
    if (left < 0 || left >= width || top < 0 || top >= height) return white;
    const [colour, opacity] = pixelAt(Math.floor(left), Math.floor(top));
    return mix(white, colour, opacity);
  };
}

/** Breaks the title into lines of the largest dots that fit. */
function layOut(title: string): { lines: string[][]; dot: number } {
  const words = title
    .split(" ")
    .map(glyphsOf)
    .filter((word) => word.length > 0);
  for (let dot = 18; ; dot--) {
    const width = Math.floor((WIDTH - 2 * MARGIN) / (COLUMNS * dot));
    const lines: string[][] = [];
    for (const word of words) {
      const last = lines.at(-1);
      if (last && last.length + 1 + word.length <= width) last.push(letters[" "], ...word);
      else lines.push([...word]);
    }
    const fits = lines.every((line) => line.length <= width);
    if ((fits && lines.length * ROWS * dot <= TITLE_HEIGHT) || dot === MIN_DOT)
      return { lines: lines.slice(0, 2).map((line) => line.slice(0, width)), dot };
  }
}

/** Returns capital letters with their accents. Other scripts are written in Latin letters. */
function glyphsOf(text: string): string[] {
  const found: string[] = [];
  for (const character of text.toUpperCase().normalize("NFD")) {
    const glyph = glyphs[character];
    const base = found.at(-1);
    if (glyph && base && /\p{M}/u.test(character)) found[found.length - 1] = overlay(base, glyph);
    else if (glyph) found.push(glyph);
    else if (/[\p{L}\p{N}\p{P}\s]/u.test(character))
      for (const letter of anyAscii(character).toUpperCase()) found.push(glyphs[letter] ?? "");
  }
  return found.filter(Boolean);
}

function overlay(glyph: string, mark: string): string {
  const marks = Buffer.from(mark, "hex");
  const both = Buffer.from(glyph, "hex").map((bits, at) => bits | (marks[at] ?? 0));
  return Buffer.from(both).toString("hex");
}
