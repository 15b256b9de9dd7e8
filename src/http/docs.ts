/**
 * The document of the API at /docs/json and its page at /docs. The page and its script come from this
 * server, never from another, so it works offline.
 */
import { LRUCache } from "lru-cache";
import { baseUrlOf, type Context } from "./context.ts";
import type { Result } from "./result.ts";
import type { Route } from "./routes.ts";
import { docsPolicy } from "./security-headers.ts";

/** Scalar's API reference as one gzip-compressed script. */
export type DocsScript = () => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;

export interface OpenApiDocument {
  /** The document of a server at that URL, as JSON. */
  at(url: string): Promise<string>;
}

/** The document names whom it was asked under, so there are as many as hosts; 60 KB each. */
const MAX_CACHED_DOCUMENTS = 20;

/** The document of those routes. It is made when it is first asked for. */
export function createOpenApiDocument(routes: readonly Route[]): OpenApiDocument {
  const cached = new LRUCache<string, string>({ max: MAX_CACHED_DOCUMENTS });
  let template: Promise<string> | undefined;
  return {
    async at(url) {
      // Loaded here alone: most servers are never asked for it.
      const { ORIGIN, renderTemplate } = await import("./openapi.ts");
      template ??= renderTemplate(routes);
      const text =
        cached.get(url) ?? (await template).replaceAll(ORIGIN, JSON.stringify(url).slice(1, -1));
      cached.set(url, text);
      return text;
    },
  };
}

export async function getOpenApi(context: Context): Promise<Result> {
  return {
    status: 200,
    type: "application/json; charset=utf-8",
    body: await context.service.openApi.at(baseUrlOf(context)),
  };
}

/**
 * What axe finds in Scalar's style: colours too faint to read for many (WCAG asks for a contrast of
 * 4.5), and buttons whose only name is hidden until a mouse is there.
 */
const style = `
.light-mode { --scalar-color-2: #4a4a4a; --scalar-color-3: #666; --scalar-color-blue: #0065a8; --scalar-color-green: #0a6b34; --scalar-color-orange: #9a4a00; --scalar-color-red: #b3141d; --scalar-color-purple: #6139b8; --scalar-color-yellow: #7a5a00 }
.dark-mode { --scalar-color-3: #a0a0a0 }
.scalar-code-copy .sr-only > .hidden { display: inline }
`;

/** The page is for reading and trying: nothing in it calls or advertises another service. */
const scalarConfig = {
  url: "/docs/json",
  customCss: style,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  defaultOpenAllTags: true,
};

const configuration = JSON.stringify(scalarConfig).replaceAll('"', "&quot;");

/**
 * Scalar's page. The plugin's own has no language, a configuration that Scalar calls deprecated, and
 * a script within the page, which its policy refuses.
 */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Roadbook API</title>
<meta name="description" content="The public API of Roadbook: read it, and try it">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
</head>
<body>
<noscript>This page needs JavaScript. The document it shows is at <a href="/docs/json">/docs/json</a>.</noscript>
<div id="api-reference" data-configuration="${configuration}"></div>
<script src="/docs/scalar.js"></script>
</body>
</html>
`;

export function getDocsPage({ service }: Context): Result {
  return {
    status: 200,
    type: "text/html; charset=utf-8",
    body: page,
    headers: { "content-security-policy": docsPolicy(service.publicUrl) },
  };
}

export async function getDocsScript({ service }: Context): Promise<Result> {
  return {
    status: 200,
    type: "text/javascript; charset=utf-8",
    body: await service.docsScript(),
    coding: "gzip",
  };
}

export function redirectToDocs(): Result {
  return { status: 302, type: "", body: null, headers: { location: "/docs" } };
}
