/** Applies a community's own name, colour and logo to the page. This module never reads files. */
import { colord, extend } from "colord";
import a11yPlugin from "colord/plugins/a11y";
import mixPlugin from "colord/plugins/mix";
import { InvalidValue } from "../domain/invalid-value.ts";
import type { Language } from "../domain/languages.ts";
import type { PageAssets } from "./assets.ts";
import { versioned } from "./page.ts";

extend([a11yPlugin, mixPlugin]);

export const MAX_LOGO_BYTES = 256 * 1024;
export const DEFAULT_TITLE = "Roadbook";
export const DEFAULT_ACCENT = "#ffc61a";

/** The flags of these names in settings/serve-flags.ts say what they mean. */
export interface Brand {
  title: string;
  /** The ids of the users on the start page. By default, the ones with the most points. */
  featured: readonly number[] | "all" | undefined;
  language: Language | undefined;
  kiosk: boolean;
  /** In milliseconds. */
  kioskIdle: number;
  allowIndexing: boolean;
  links: readonly { text: string; url: string }[] | undefined;
  driverLink: string | undefined;
  companyLink: string | undefined;
  icons: string | undefined;
}

export interface Logo {
  /** The name of the file in /assets/, which changes with the bytes. */
  file: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** All that the pages of a community have in common. */
export interface Site extends Brand {
  accent: string | undefined;
  logo: Logo | undefined;
  assets: PageAssets;
}

type Mode = "light" | "dark";

/** The background of the page, as in style.css. */
const PAPER = { light: "#ffffff", dark: "#101214" };

/**
 * Rules in an accent of less contrast to the background would vanish. Yellow, which is 1.6 on white,
 * stands out by its colour, as on road signs.
 */
const MIN_CONTRAST = { light: 1.5, dark: 3 };

/** WCAG 2 requires this of parts of a page that are not text. */
const SHADED_CONTRAST = 3;

/** The contrast of text in WCAG 2, level AA. */
const TEXT_CONTRAST = 4.5;

/** The colour of text on `accent`: the first that has enough contrast. */
export function textColourOn(accent: string): string {
  const colours = ["#141414", "#ffffff", "#000000"];
  return colours.find((colour) => contrastOf(accent, colour) >= TEXT_CONTRAST) ?? "#000000";
}

/** The colour of rules in a mode: the accent if it is visible there, or else a shade. */
function shadeAccent(accent: string, mode: Mode): string {
  if (contrastOf(accent, PAPER[mode]) >= MIN_CONTRAST[mode]) return accent;

  const ink = mode === "light" ? "#000" : "#fff";
  for (let share = 0.01; share < 1; share += 0.01) {
    const colour = colord(accent).mix(ink, share, "rgb").toHex();
    if (contrastOf(colour, PAPER[mode]) >= SHADED_CONTRAST) return colour;
  }
  return accent;
}

/** Signs have the accent itself in both modes, because the line inside their edge shows them. */
export function styleOf(accent: string): string {
  const light = declareLine(shadeAccent(accent, "light"));
  const dark = declareLine(shadeAccent(accent, "dark"));
  return `:root{--accent:${accent};--on-accent:${textColourOn(accent)};${light}}@media(prefers-color-scheme:dark){:root{${dark}}}`;
}

function declareLine(colour: string): string {
  return `--line:${colour};--on-line:${textColourOn(colour)}`;
}

/** From 1 to 21, as WCAG 2 defines it. */
function contrastOf(colour: string, background: string): number {
  return colord(colour).contrast(background);
}

/** Throws an {@link InvalidValue} whose message continues a sentence that begins with the logo's name. */
export function parseLogo(bytes: Uint8Array): Logo {
  if (bytes.length > MAX_LOGO_BYTES) {
    throw new InvalidValue(`is larger than ${MAX_LOGO_BYTES / 1024} KB, the maximum for a logo`);
  }
  if (PNG_SIGNATURE.equals(bytes.subarray(0, PNG_SIGNATURE.length))) {
    return logoOf(bytes, "png", "image/png");
  }

  const [, root] = SVG_ROOT.exec(new TextDecoder().decode(bytes)) ?? [];
  if (root === undefined) throw new InvalidValue("is neither an SVG nor a PNG");
  if (!/\sviewBox\s*=/.test(root)) {
    throw new InvalidValue(
      'has no viewBox, so browsers cannot scale it: add viewBox="0 0 WIDTH HEIGHT" to its <svg> tag',
    );
  }
  return logoOf(bytes, "svg", "image/svg+xml");
}

function logoOf(bytes: Uint8Array, ending: string, type: string): Logo {
  const file = versioned("logo", bytes, ending);
  // Copies the bytes, because the caller might change them after clients have cached the file.
  return { file, type, bytes: bytes.slice() };
}

/** Every PNG begins with it. */
const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** An optional XML prolog, and the attributes of the root tag of an SVG. */
const SVG_ROOT =
  /^(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>)*<svg(?=[\s/>])((?:"[^"]*"|'[^']*'|[^"'>])*)>/s;
