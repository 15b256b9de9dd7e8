/** A community's own name, colour and logo on the page. Reads no files. */
import crypto from "node:crypto";
import { PNG_START } from "./png.ts";

export const DEFAULT_TITLE = "Roadbook";
export const DEFAULT_ACCENT = "#ffc61a";

/** Readable as of WCAG 2, level AA. */
const MIN_CONTRAST = 4.5;

export const MAX_LOGO_BYTES = 256 * 1024;

export interface Logo {
  /** Its name changes with its content. */
  file: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The colour of text on `accent`, as `#rrggbb`: of black and white, one always has that contrast. */
export function textColourOn(accent: string): string {
  const colours = ["#141414", "#ffffff", "#000000"];
  return colours.find((colour) => contrastOf(colour, accent) >= MIN_CONTRAST) ?? "#000000";
}

/** The contrast ratio of WCAG 2, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The style that gives the page another accent. */
export function styleOf(accent: string): string {
  return `:root{--accent:${accent};--on-accent:${textColourOn(accent)}}`;
}

/** Throws a `RangeError` whose message goes on where the name of the file ends. */
export function parseLogo(bytes: Uint8Array): Logo {
  if (bytes.length > MAX_LOGO_BYTES) {
    throw new RangeError(
      `is larger than ${MAX_LOGO_BYTES / 1024} KB, which every reader would load`,
    );
  }
  const kind = isPng(bytes) ? "png" : isSvg(bytes) ? "svg" : undefined;
  if (!kind) throw new RangeError("is neither an SVG nor a PNG");
  const file = `logo-${crypto.hash("sha256", bytes).slice(0, 12)}.${kind}`;
  // A copy, as the caller's own may change, and with it what its name promises.
  return { file, type: kind === "png" ? "image/png" : "image/svg+xml", bytes: bytes.slice() };
}

function isPng(bytes: Uint8Array): boolean {
  return PNG_START.equals(bytes.subarray(0, PNG_START.length));
}

/** What may stand before the first tag of an XML document, and then that tag. */
const SVG_START = /^(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>)*<svg[\s/>]/s;

function isSvg(bytes: Uint8Array): boolean {
  return SVG_START.test(new TextDecoder().decode(bytes));
}
