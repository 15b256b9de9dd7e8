/** The files of the pages: the script, the style sheet and the logo. */
import { NotFoundError } from "elysia";
import { hash } from "../../files/bytes.ts";
import { styleOf } from "../../web/brand.ts";
import { assetPath } from "../../web/page-paths.ts";
import type { Pages } from "../app-options.ts";
import { Content } from "../content.ts";

/** An SVG opened directly is a document and could run scripts, but a logo may have styles and images. */
const LOGO_POLICY =
  "default-src 'none'; frame-ancestors 'none'; style-src 'unsafe-inline'; img-src data:";

/** The name of the script or the style sheet of any version, and its ending. */
const VERSIONED = /^page-[0-9a-f]{12}\.(css|js)$/;

export function createAssets({ assets: { script, style }, accent, logo }: Pages) {
  const files = new Map<string, Content>();
  /** The script and the style sheet by their endings. */
  const current = new Map<string, Content>();

  /** Browsers keep the file for a year, so its name changes with the text. */
  function addVersioned(ending: string, type: string, text: string): string {
    const file = `page-${hash("SHA256", text, "hex").slice(0, 12)}.${ending}`;
    files.set(file, new Content(type, text, { cache: "immutable", isShared: true }));
    current.set(ending, new Content(type, text, { isShared: true }));
    return assetPath(file);
  }

  if (logo) {
    const headers = { "content-security-policy": LOGO_POLICY };
    const options = { cache: "immutable", isShared: true, headers } as const;
    files.set(logo.file, new Content(logo.type, logo.bytes, options));
  }
  const styleText = style + (accent ? styleOf(accent) : "");
  return {
    paths: {
      scriptPath: addVersioned("js", "text/javascript; charset=utf-8", script),
      stylePath: addVersioned("css", "text/css; charset=utf-8", styleText),
      logoPath: logo && assetPath(logo.file),
    },
    /** A page of another version gets the current script and style sheet. */
    find(file: string): Content {
      const found = files.get(file) ?? current.get(VERSIONED.exec(file)?.[1] ?? "");
      if (!found) throw new NotFoundError();
      return found;
    },
  };
}
