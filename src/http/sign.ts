/** The picture of the site that a preview of a link shows: its name, logo and number of drivers. */
import { Elysia } from "elysia";
import { DEFAULT_ACCENT } from "../web/brand.ts";
import { drawSign } from "../web/drawings.ts";
import { translationIn } from "../web/languages.ts";
import type { Pages, Service } from "./app-options.ts";
import { Content } from "./result.ts";

export function sign({ snapshot }: Service, page: Pages) {
  const { title, accent = DEFAULT_ACCENT, language = "en", logo } = page;
  const { texts, formatCount } = translationIn(language);
  // The last picture is kept, because drawing takes as long as hundreds of requests.
  let last: { count: string; content: Promise<Content> } | undefined;

  async function draw(count: string): Promise<Content> {
    const bytes = await drawSign(title, count, accent, logo);
    return new Content("image/png", bytes, { cache: "public" });
  }

  // Elysia waits for a promise only if the handler is declared async.
  return new Elysia({ strictPath: true }).get("/sign.png", async () => {
    const count = formatCount(snapshot().meta.counts.public_users, texts.driverCount);
    if (last?.count !== count) last = { count, content: draw(count) };
    return last.content;
  });
}
