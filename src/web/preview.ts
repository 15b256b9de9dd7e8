/**
 * Draws the picture of link previews: a sign with the title and a count. Roadbook ships no font, so
 * the letters are those of a dot-matrix display.
 */
import anyAscii from "any-ascii";
import { rgbOf, textColourOn } from "./brand.ts";
import { coversRoad } from "./drawings.ts";
import letters from "./letters.json" with { type: "json" };
import { drawPng } from "./png.ts";

/** The smallest size that most programs show across the whole width of a message. */
const SIZE = { width: 600, height: 315, unit: 1, samples: 1 };
const MARGIN = 42;
const ICON_SIZE = 84;
/** A letter is five dots wide and has a dot of space beside it. A line has room for accents. */
const [COLUMNS, ROWS] = [6, 12];
const MAX_LETTERS = 20;

const glyphs: Record<string, string | undefined> = letters;

/** `hasRoad` shows Roadbook's own sign, for a community without a logo. */
export function drawPreview(title: string, count: string, accent: string, hasRoad: boolean) {
  // A title that is too long for two lines is cut.
  const pattern = new RegExp(`\\S.{0,${MAX_LETTERS - 1}}(?!\\S)|\\S{${MAX_LETTERS}}`, "g");
  const parts = (spellTitle(title).match(pattern) ?? []).slice(0, 2);
  const widest = Math.max(1, ...parts.map(({ length }) => length));
  const [width, height] = [SIZE.width - 2 * MARGIN, 104 / Math.max(1, parts.length)];
  const dot = Math.floor(Math.min(width / (widest * COLUMNS), height / ROWS));
  let top = SIZE.height - MARGIN - 3 * ROWS;
  const lines = [{ top, dot: 3, rows: dotsOf(spellTitle(count)) }];
  for (const part of parts.toReversed()) {
    top -= dot * ROWS;
    lines.push({ top, dot, rows: dotsOf(part) });
  }
  const covers = (x: number, y: number) => {
    const fromEdge = Math.min(x, y, SIZE.width - x, SIZE.height - y);
    if (fromEdge < MARGIN) return fromEdge > 13 && fromEdge < 18;
    if (y < MARGIN + ICON_SIZE && x < MARGIN + ICON_SIZE && hasRoad) {
      const [left, up] = [x, y].map((at) => 12 + ((at - MARGIN) * 40) / ICON_SIZE);
      return coversRoad(left ?? 0, up ?? 0);
    }
    return lines.some(
      (line) =>
        line.rows[Math.floor((y - line.top) / line.dot)]?.[Math.floor((x - MARGIN) / line.dot)],
    );
  };
  return drawPng(covers, rgbOf(accent), rgbOf(textColourOn(accent)), SIZE);
}

/** Keeps the letters that can be drawn, and writes those of other scripts in Latin letters. */
function spellTitle(text: string): string {
  const spell = (character: string) =>
    glyphs[character] ? character : /[\p{L}\p{N}\p{P}]/u.test(character) ? anyAscii(character) : "";
  const spelled = [...text.normalize("NFC").toUpperCase()].map(spell).join("").toUpperCase();
  return [...spelled].filter((letter) => glyphs[letter]).join("");
}

/** Whether each dot of a text is set, by row and column. */
function dotsOf(text: string): boolean[][] {
  const rows = [...text].map((letter) => Buffer.from(glyphs[letter] ?? "", "hex"));
  return Array.from({ length: ROWS }, (_, row) =>
    rows.flatMap((bits) => [16, 8, 4, 2, 1, 0].map((bit) => ((bits[row] ?? 0) & bit) > 0)),
  );
}
