/** The API reference: a page that works offline, and its script. */
import { type AnyElysia, Elysia } from "elysia";
import { lazyAsync } from "../domain/lazy.ts";
import { docsScript } from "../web/assets.ts";
import { DEFAULT_TITLE } from "../web/brand.ts";
import { html } from "../web/html.ts";
import {
  assetPath,
  DOCS_PATH,
  DOCS_SCRIPT_PATH,
  DOCUMENT_PATH,
  FAVICON_PATH,
} from "../web/page.ts";
import type { RouteOptions } from "./app-options.ts";
import { Content, JSON_TYPE } from "./content.ts";
import { documentAt, documentation, ORIGIN } from "./openapi.ts";

/** The page and its script are hashed and compressed once, because that delays other clients. */
const shared = { cache: "public", isShared: true } as const;

export function docs(options: RouteOptions, documented: AnyElysia) {
  const { basePath, publicUrl, site, baseUrl } = options;
  const name = site?.title ?? DEFAULT_TITLE;
  const favicon = site?.logo ? assetPath(site.logo.file) : FAVICON_PATH;
  const headers = { "content-security-policy": docsPolicy(publicUrl) };
  const text = renderPage(name, basePath, favicon);
  const page = new Content("text/html; charset=utf-8", text, {
    ...shared,
    headers,
    isIndexable: site?.allowIndexing,
  });

  const document = lazyAsync(() => describeApi(name, documented));
  const script = lazyAsync(async () => {
    const options = { ...shared, coding: "gzip" } as const;
    return new Content("text/javascript; charset=utf-8", await docsScript(), options);
  });

  return new Elysia()
    .get(DOCS_PATH, () => page)
    .get(DOCUMENT_PATH, async ({ request }) => {
      const text = documentAt(baseUrl(request), await document());
      return new Content(JSON_TYPE, text, { cache: "public" });
    })
    .get(DOCS_SCRIPT_PATH, async () => script());
}

/** Returns the OpenAPI document as JSON, in which {@link ORIGIN} stands for the base URL. */
async function describeApi(title: string, documented: AnyElysia): Promise<string> {
  const { swagger } = await import("@elysiajs/swagger");
  const info = { ...documentation.info, title };
  const plugin = swagger({
    specPath: DOCUMENT_PATH,
    documentation: { ...documentation, info } as object,
  });
  const app = new Elysia().use(plugin).use(documented);
  return (await app.handle(new Request(ORIGIN + DOCUMENT_PATH))).text();
}

/** The page of @elysiajs/swagger would not escape the title, and has an inline script. */
function renderPage(name: string, basePath: string, favicon: string): string {
  const document = basePath + DOCUMENT_PATH;
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · ${name}</title>
<link rel="icon" href="${basePath}${favicon}">
<style>body { margin: 0 }</style>
</head>
<body>
<p>This reference needs JavaScript and a recent browser. The API is also described by an <a href="${document}">OpenAPI document</a>.</p>
<script id="api-reference" data-url="${document}" data-configuration="${JSON.stringify(configuration)}"></script>
<script src="${basePath}${DOCS_SCRIPT_PATH}"></script>
</body>
</html>
`;
  return text;
}

/** Scalar adds inline styles, and its sample requests go to the public URL. */
function docsPolicy(publicUrl: string | undefined): string {
  const servers = publicUrl ? `'self' ${new URL(publicUrl).origin}` : "'self'";
  return (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; " +
    `font-src 'self' data:; connect-src ${servers}; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
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

/** Turns off everything that calls or advertises another service. */
const configuration = {
  customCss,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  defaultOpenAllTags: true,
};
