/**
 * The document of the API at /docs/json and its page at /docs. The page and its script come from this
 * server, never from another, so it works offline.
 */
import { baseUrlOf, type Context } from "./context.ts";
import { content, type Result } from "./result.ts";
import { docsPolicy } from "./security-headers.ts";

/** Scalar's API reference as one gzip-compressed script. */
export type DocsScript = () => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;

export async function getOpenApi(context: Context): Promise<Result> {
  // Loaded here alone: most servers are never asked for it.
  const { openApiDocument } = await import("./openapi.ts");
  return content("application/json", await openApiDocument(baseUrlOf(context)));
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
const configuration = JSON.stringify({
  url: "/docs/json",
  customCss: style,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  defaultOpenAllTags: true,
}).replaceAll('"', "&quot;");

/** Scalar's page, without a script within it, which its policy refuses. */
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
  return content("text/html", page, { "content-security-policy": docsPolicy(service.publicUrl) });
}

/** Hashing the script takes 2 ms and decoding it 15, so all requests share one result. */
const scripts = new WeakMap<Uint8Array, Result>();

export async function getDocsScript({ service }: Context): Promise<Result> {
  const bytes = await service.docsScript();
  const result = scripts.get(bytes) ?? {
    ...content("text/javascript", bytes),
    coding: "gzip",
    isShared: true,
  };
  scripts.set(bytes, result);
  return result;
}

export function redirectToDocs(): Result {
  return { status: 302, type: "", body: null, headers: { location: "/docs" } };
}
