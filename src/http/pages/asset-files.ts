/** The files of the pages: the script, the style sheet and the logo. */
import { NotFoundError } from "elysia";
import { hash } from "../../files/hash.ts";
import { styleOf } from "../../web/brand.ts";
import { assetPath } from "../../web/page-paths.ts";
import type { Pages } from "../app-options.ts";
import { Content } from "../content.ts";

/** An SVG opened directly is a document and could run scripts, but a logo may have styles and images. */
const LOGO_POLICY =
  "default-src 'none'; frame-ancestors 'none'; style-src 'unsafe-inline'; img-src data:";

/** The name of the script or the style sheet of any version, and its ending. */
const VERSIONED = /^page-[0-9a-f]{12}\.(css|js)$/;

export class AssetFiles {
  readonly paths: { scriptPath: string; stylePath: string; logoPath: string | undefined };
  readonly #files = new Map<string, Content>();
  /** The script and the style sheet by their endings. */
  readonly #current = new Map<string, Content>();

  constructor({ assets: { script, style }, accent, logo }: Pages) {
    const styleText = style + (accent ? styleOf(accent) : "");
    this.paths = {
      scriptPath: this.#addVersioned("js", "text/javascript; charset=utf-8", script),
      stylePath: this.#addVersioned("css", "text/css; charset=utf-8", styleText),
      logoPath: logo && assetPath(logo.file),
    };
    if (logo) {
      const headers = { "content-security-policy": LOGO_POLICY };
      const options = { cache: "immutable", isShared: true, headers } as const;
      this.#files.set(logo.file, new Content(logo.type, logo.bytes, options));
    }
  }

  /** A page of another version gets the current script and style sheet. */
  find(file: string): Content {
    const found = this.#files.get(file) ?? this.#current.get(VERSIONED.exec(file)?.[1] ?? "");
    if (!found) throw new NotFoundError();
    return found;
  }

  /** Browsers keep the file for a year, so its name changes with the text. */
  #addVersioned(ending: string, type: string, text: string): string {
    const file = `page-${hash("SHA256", text, "hex").slice(0, 12)}.${ending}`;
    this.#files.set(file, new Content(type, text, { cache: "immutable", isShared: true }));
    this.#current.set(ending, new Content(type, text, { isShared: true }));
    return assetPath(file);
  }
}
