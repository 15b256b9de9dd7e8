/** Applies a community's own name, colour and logo to the page. This module never reads files. */
import crypto from "node:crypto";
import type { Language } from "../domain/languages.ts";

export const DEFAULT_TITLE = "Roadbook";
export const DEFAULT_ACCENT = "#ffc61a";

/** The help of the flags describes these. */
export interface Brand {
  title: string;
  language?: Language | undefined;
  kiosk?: boolean | undefined;
  /** In milliseconds. */
  kioskIdle: number;
  allowIndexing?: boolean | undefined;
  links?: readonly { text: string; url: string }[] | undefined;
  driverLink?: string | undefined;
  companyLink?: string | undefined;
  icons?: string | undefined;
}

export type Logo = ReturnType<typeof parseLogo>;

/** The colour of text on `accent`, with at least the contrast of 4.5 of WCAG 2 level AA. */
export function textColourOn(accent: string): string {
  const [red = 0, green = 0, blue = 0] = [...Buffer.from(accent.slice(1), "hex")].map((byte) => {
    const value = byte / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  if (luminance > 0.207) return "#141414";
  return luminance < 0.183 ? "#ffffff" : "#000000";
}

export function styleOf(accent: string): string {
  return `:root{--accent:${accent};--on-accent:${textColourOn(accent)}}`;
}

/** Throws a `RangeError` whose message continues a sentence that begins with the logo's name. */
export function parseLogo(bytes: Uint8Array) {
  if (bytes.length > 256 * 1024)
    throw new RangeError("is larger than 256 KB, the maximum for a logo");
  const isPng = PNG_START.equals(bytes.subarray(0, PNG_START.length));
  if (!isPng && !SVG_START.test(new TextDecoder().decode(bytes))) {
    throw new RangeError("is neither an SVG nor a PNG");
  }
  const [kind, type] = isPng ? ["png", "image/png"] : ["svg", "image/svg+xml"];
  const file = `logo-${crypto.hash("sha256", bytes).slice(0, 12)}.${kind}`;
  // Copies the bytes, because the caller might change them after clients have cached the file.
  return { file, type, bytes: bytes.slice() };
}

const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** An optional XML prolog and the root tag of an SVG. */
const SVG_START = /^(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>)*<svg[\s/>]/s;
