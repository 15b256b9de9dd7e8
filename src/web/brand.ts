/** Applies a community's own name, colour and logo to the page. This module never reads files. */
import crypto from "node:crypto";
import type { Language } from "./languages.ts";

export const DEFAULT_TITLE = "Roadbook";
export const DEFAULT_ACCENT = "#ffc61a";

export interface Brand {
  title: string;
  /** Defaults to the language that the reader chooses, or the reader's browser asks for. */
  language?: Language | undefined;
  /** Adapts the page to an unattended screen. */
  kiosk?: boolean | undefined;
  /** The idle time in milliseconds after which a kiosk returns to the start. */
  kioskIdle: number;
  allowIndexing?: boolean | undefined;
  /** Links at the foot of every page. A URL is http(s) or a path. */
  links?: readonly { text: string; url: string }[] | undefined;
  /** URL of a driver's page on the community's own site, with `{id}` for the id. */
  driverLink?: string | undefined;
  /** URL of a company's page on the community's own site, with `{id}` for the id. */
  companyLink?: string | undefined;
  /** Base URL of the community's pictures of achievements. Without it, all are drawn. */
  icons?: string | undefined;
}

export type Logo = ReturnType<typeof parseLogo>;

/** The colour of text on `accent`, with at least the contrast that WCAG 2 level AA requires. */
export function textColourOn(accent: string): string {
  // White or black always reaches it.
  const readable = ["#141414", "#ffffff"].find((colour) => contrastOf(colour, accent) >= 4.5);
  return readable ?? "#000000";
}

/** The WCAG 2 contrast ratio of two colours, from 1 to 21. */
export function contrastOf(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminanceOf(a), luminanceOf(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function luminanceOf(colour: string): number {
  const bytes = [...Buffer.from(colour.slice(1), "hex")];
  const [red = 0, green = 0, blue = 0] = bytes.map((byte) => {
    const value = byte / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function styleOf(accent: string): string {
  return `:root{--accent:${accent};--on-accent:${textColourOn(accent)}}`;
}

/** Throws a `RangeError` whose message continues a sentence that begins with the logo's name. */
export function parseLogo(bytes: Uint8Array) {
  const isLarge = bytes.length > 256 * 1024;
  if (isLarge) throw new RangeError("is larger than 256 KB, the maximum for a logo");
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
