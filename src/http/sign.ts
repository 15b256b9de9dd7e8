/** The picture of the site that a preview of a link shows: its name, logo and number of public users. */
import { Elysia } from "elysia";
import { Once } from "../domain/once.ts";
import { DEFAULT_ACCENT } from "../web/brand.ts";
import { drawSign } from "../web/drawings.ts";
import { SIGN_PATH } from "../web/page-paths.ts";
import { translationIn } from "../web/translation.ts";
import type { Pages, Service } from "./app-options.ts";
import { Content } from "./content.ts";

export function sign({ currentSnapshot }: Service, pages: Pages) {
  const { texts, formatCount } = translationIn(pages.language ?? "en");
  const painter = new SignPainter(pages);

  // Elysia waits for a promise only if the handler is declared async.
  return new Elysia({ strictPath: true }).get(SIGN_PATH, async () => {
    const count = formatCount(currentSnapshot().meta.counts.public_users, texts.driverCount);
    return painter.paint(count);
  });
}

/** Keeps the last picture, because drawing takes as long as hundreds of requests. */
class SignPainter {
  readonly #pages: Pages;
  #count: string | undefined;
  #picture: Once<Content> | undefined;

  constructor(pages: Pages) {
    this.#pages = pages;
  }

  paint(count: string): Promise<Content> {
    if (this.#picture === undefined || this.#count !== count) {
      this.#count = count;
      this.#picture = new Once(() => this.#draw(count));
    }
    return this.#picture.get();
  }

  async #draw(count: string): Promise<Content> {
    const { title, accent = DEFAULT_ACCENT, logo } = this.#pages;
    const bytes = await drawSign(title, count, accent, logo);
    return new Content("image/png", bytes, { cache: "public" });
  }
}
