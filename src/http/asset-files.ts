/** The files of the pages: the script, the style sheet and the logo. */
import { NotFoundError } from "elysia";
import { styleOf } from "../web/brand.ts";
import { assetPath } from "../web/page-paths.ts";
import type { Pages } from "./app-options.ts";
import { type Body, Content } from "./content.ts";

/** An operator's logo may also contain styles and embedded images. */
const LOGO_POLICY =
  "default-src 'none'; frame-ancestors 'none'; style-src 'unsafe-inline'; img-src data:";

/** The name of the script or the style sheet of a version, and its ending. */
const VERSIONED = /^page-[0-9a-f]{12}(?:-[0-9a-f]{6})?\.(css|js)$/;

export class AssetFiles {
  readonly paths: { scriptPath: string; stylePath: string; logoPath: string | undefined };
  readonly #files = new Map<string, Content>();
  /** The script and the style sheet by their endings. */
  readonly #current = new Map<string, Content>();

  constructor({ assets: { script, style }, accent, logo }: Pages) {
    const styleFile = style.file.replace(".css", accent ? `-${accent.slice(1)}.css` : ".css");
    const styleText = style.text + (accent ? styleOf(accent) : "");
    this.paths = {
      scriptPath: this.#add(script.file, "text/javascript; charset=utf-8", script.text),
      stylePath: this.#add(styleFile, "text/css; charset=utf-8", styleText),
      // An SVG opened directly is a document and could run scripts, so the policy forbids scripts.
      logoPath:
        logo &&
        this.#add(logo.file, logo.type, logo.bytes, { "content-security-policy": LOGO_POLICY }),
    };
  }

  /** A page of another version gets the current script and style sheet. */
  find(file: string): Content {
    const found = this.#files.get(file) ?? this.#current.get(endingOf(file));
    if (!found) throw new NotFoundError();
    return found;
  }

  #add(file: string, type: string, body: Body, headers = {}): string {
    const own = { cache: "immutable", isShared: true, headers } as const;
    this.#files.set(file, new Content(type, body, own));
    const ending = endingOf(file);
    if (ending) this.#current.set(ending, new Content(type, body, { isShared: true }));
    return assetPath(file);
  }
}

/** Returns the ending of the script or the style sheet of any version, otherwise "". */
function endingOf(file: string): string {
  return VERSIONED.exec(file)?.[1] ?? "";
}
