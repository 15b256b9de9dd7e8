/** The API reference: a page that works offline, and its script. */
import { type AnyElysia, Elysia } from "elysia";
import { Once } from "../domain/once.ts";
import { docsScript } from "../web/assets.ts";
import { DEFAULT_TITLE } from "../web/brand.ts";
import { html } from "../web/html.ts";
import {
  assetPath,
  DOCS_PATH,
  DOCS_SCRIPT_PATH,
  DOCUMENT_PATH,
  FAVICON_PATH,
} from "../web/page-paths.ts";
import type { Service } from "./app-options.ts";
import { Content, JSON_TYPE } from "./content.ts";
import { documentAt, documentation, ORIGIN } from "./openapi.ts";

/** The page and its script are hashed and compressed once, because that delays other clients. */
const shared = { cache: "public", isShared: true } as const;

export function docs(service: Service, documented: AnyElysia) {
  // Made once, when they are first needed.
  const reference = new Once(() => renderReference(service, documented));
  const script = new Once(async () => {
    const options = { ...shared, coding: "gzip" } as const;
    return new Content("text/javascript; charset=utf-8", await docsScript(), options);
  });
  return new Elysia({ strictPath: true })
    .get(DOCS_PATH, async () => (await reference.get()).page)
    .get(DOCUMENT_PATH, async ({ request }) => {
      const text = documentAt(service.baseUrl(request), (await reference.get()).document);
      return new Content(JSON_TYPE, text, { cache: "public" });
    })
    .get(DOCS_SCRIPT_PATH, async () => await script.get());
}

/** Returns the page, and the document as JSON in which {@link ORIGIN} stands for the base URL. */
async function renderReference({ publicUrl, basePath, pages }: Service, documented: AnyElysia) {
  // Loaded on demand, because most servers never serve the reference.
  const { swagger } = await import("@elysiajs/swagger");
  const name = pages?.title ?? DEFAULT_TITLE;
  const plugin = swagger(settingsOf(basePath, pages));

  const app = new Elysia().use(plugin).use(documented);
  const read = async (path: string) => (await app.handle(new Request(ORIGIN + path))).text();

  const title = html`<title>API · ${name}</title>`;
  const notice = html`<p>This reference needs JavaScript and a recent browser. The API is also described by an <a href="${basePath}${DOCUMENT_PATH}">OpenAPI document</a>.</p>`;

  const text = edit(await read(DOCS_PATH), [
    ["<html>", '<html lang="en">'],
    // The plugin would not escape the name, so it gets another.
    [`<title>${documentation.info.title}</title>`, title.text],
    ["<body>", `<body>${notice.text}`],
    [' data-url="undefined"', ""],
    // The policy forbids inline scripts, and even white space counts as one.
    [/>\s+<\/script>/, "></script>"],
  ]);

  const headers = { "content-security-policy": policyFor(publicUrl) };
  const reference = new Content("text/html; charset=utf-8", text, { ...shared, headers });
  const document: { info: { title: string } } = JSON.parse(await read(DOCUMENT_PATH));
  document.info.title = name;
  return { page: reference, document: JSON.stringify(document) };
}

function settingsOf(basePath: string, pages: Service["pages"]) {
  return {
    path: DOCS_PATH,
    specPath: DOCUMENT_PATH,
    scalarCDN: basePath + DOCS_SCRIPT_PATH,
    // Turns off everything that calls or advertises another service.
    scalarConfig: {
      // The plugin would set `spec.url`, and Scalar would warn that `url` has replaced it.
      spec: undefined,
      url: basePath + DOCUMENT_PATH,
      favicon: basePath + (pages?.logo ? assetPath(pages.logo.file) : FAVICON_PATH),
      customCss,
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: "never",
      hideClientButton: true,
      defaultOpenAllTags: true,
    } as object,
    documentation: documentation as object,
  };
}

/** Scalar adds inline styles, and its sample requests go to the public URL. */
function policyFor(publicUrl: string | undefined): string {
  const servers = publicUrl ? `'self' ${new URL(publicUrl).origin}` : "'self'";
  return (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; " +
    `font-src 'self' data:; connect-src ${servers}; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}

/** Throws if the page lacks a part to replace, because another version of the plugin wrote it. */
function edit(page: string, edits: [part: string | RegExp, replacement: string][]): string {
  let edited = page;
  for (const [part, replacement] of edits) {
    const before = edited;
    edited = before.replace(part, () => replacement);
    if (edited === before) throw new Error(`the page of @elysiajs/swagger has no ${part}`);
  }
  return edited;
}

/**
 * Hides the notice once Scalar has put its element behind it. Passes axe's checks: contrast of at
 * least 4.5, and names for buttons shown only on hover.
 */
const customCss = `
body > p:has(+ div) { display: none }
.light-mode {
  --scalar-color-2: #4a4a4a; --scalar-color-3: #666; --scalar-color-blue: #0065a8;
  --scalar-color-green: #0a6b34; --scalar-color-orange: #9a4a00; --scalar-color-red: #b3141d;
  --scalar-color-purple: #6139b8; --scalar-color-yellow: #7a5a00;
}
.dark-mode { --scalar-color-3: #a0a0a0 }
.scalar-code-copy .sr-only > .hidden { display: inline }
`;
