/**
 * Draws the picture of link previews: a sign with the title and a count. Roadbook ships no font, so
 * the letters are those of a dot-matrix display.
 */
import anyAscii from "any-ascii";
import { rgbOf, textColourOn } from "./brand.ts";
import { coversRoad } from "./drawings.ts";
import letters from "./letters.json" with { type: "json" };
import { type Covers, drawPng } from "./png.ts";

/** The smallest size that most programs show across the whole width of a message. */
const SIZE = { width: 600, height: 315, samples: 1 };
/** In pixels, as is the size of a dot. A letter has 6×12 dots with the space around it. */
const [MARGIN, ICON_SIZE, TITLE_WIDTH, TITLE_HEIGHT] = [42, 84, 516, 104];

const glyphs: Record<string, string | undefined> = letters;

const pixelOf = (at: number) => Math.floor((at * SIZE.height) / 64);
const iconOf = (pixel: number) => 12 + ((pixel - MARGIN) * 40) / ICON_SIZE;

/** `hasRoad` shows Roadbook's own sign, for a community without a logo. */
export function drawPreview(title: string, count: string, accent: string, hasRoad: boolean) {
  // A title that does not fit into two lines is cut.
  const lines = (spellOut(title).match(/\S.{0,19}(?!\S)|\S{20}/g) ?? [""]).slice(0, 2);
  const longest = Math.max(1, ...lines.map(({ length }) => length));
  const dot = Math.floor(Math.min(TITLE_WIDTH / longest / 6, TITLE_HEIGHT / lines.length / 12));
  const countTop = SIZE.height - MARGIN - 3 * 12;
  const titleTop = countTop - lines.length * 12 * dot;
  const parts = lines.map((line, at) => drawText(line, titleTop + at * 12 * dot, dot));
  parts.push(drawText(spellOut(count), countTop, 3));
  const covers: Covers = (left, top) => {
    const [x, y] = [pixelOf(left), pixelOf(top)];
    const fromEdge = Math.min(x, y, SIZE.width - 1 - x, SIZE.height - 1 - y);
    if (fromEdge < MARGIN) return fromEdge > 12 && fromEdge < 18;
    return (hasRoad && coversRoad(iconOf(x), iconOf(y))) || parts.some((part) => part(x, y));
  };
  return drawPng(covers, rgbOf(accent), rgbOf(textColourOn(accent)), SIZE);
}

/** Keeps the letters that can be drawn, and writes other scripts in Latin letters. */
function spellOut(text: string): string {
  const spell = (letter: string) => (/[\p{L}\p{N}\p{P}]/u.test(letter) ? anyAscii(letter) : "");
  const capitals = [...text.normalize("NFC").toUpperCase()];
  const spelled = capitals.map((letter) => (glyphs[letter] ? letter : spell(letter)));
  return [...spelled.join("").toUpperCase()].filter((letter) => glyphs[letter]).join("");
}

/** Each glyph is twelve bytes in hexadecimal, one for each row of dots. */
function drawText(text: string, top: number, dot: number): Covers {
  const rows = [...text].map((letter) => Buffer.from(glyphs[letter] ?? "", "hex"));
  return (x, y) => {
    const [column, row] = [Math.floor((x - MARGIN) / dot), Math.floor((y - top) / dot)];
    return (((rows[Math.floor(column / 6)]?.[row] ?? 0) << (column % 6)) & 16) > 0;
  };
}
