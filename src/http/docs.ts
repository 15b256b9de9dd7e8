/**
 * Serves the OpenAPI document at /docs/json, and a page that displays the document at /docs. The
 * page loads nothing from other servers, so it works offline.
 */
import { type AnyElysia, Elysia } from "elysia";
import { LRUCache } from "lru-cache";
import { html, withBasePath } from "../web/html.ts";
import { ORIGIN, renderOpenApi } from "./openapi.ts";
import { Content, JSON_TYPE } from "./result.ts";
import { docsPolicy } from "./security-headers.ts";
import type { Service } from "./service.ts";

/** Returns Scalar's API reference as a single gzip-compressed script. */
export type DocsScript = () => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;

export interface DocsService extends Pick<Service, "baseUrl" | "basePath"> {
  publicUrl: string | undefined;
  docsScript: DocsScript;
}

/** `documented` contains the routes that the OpenAPI document describes. */
export function docs(service: DocsService, documented: AnyElysia) {
  const policy = { "content-security-policy": docsPolicy(service.publicUrl) };
  const page = withBasePath(renderPage(service.basePath), service.basePath);
  const content = new Content("text/html; charset=utf-8", page, {
    cache: "hour",
    headers: policy,
    isShared: true,
  });
  let template: Promise<string> | undefined;
  /** The documents for the base URLs under which clients reach the server, usually one or two. */
  const documents = new LRUCache<string, Promise<Content>>({ max: 10, memoMethod: render });
  async function render(baseUrl: string): Promise<Content> {
    template ??= renderOpenApi(documented);
    const url = JSON.stringify(baseUrl).slice(1, -1);
    const text = (await template).replaceAll(ORIGIN, () => url);
    return new Content(JSON_TYPE, text, { cache: "public", isShared: true });
  }
  let script: Promise<Content> | undefined;
  return new Elysia({ strictPath: true })
    .get("/docs", () => content)
    .get("/docs/json", async ({ request }) => await documents.memo(service.baseUrl(request)))
    .get("/docs/scalar.js", async () => {
      script ??= readScript(service.docsScript);
      return await script;
    });
}

async function readScript(docsScript: DocsScript): Promise<Content> {
  const type = "text/javascript; charset=utf-8";
  return new Content(type, await docsScript(), { cache: "hour", coding: "gzip", isShared: true });
}

/**
 * Fixes accessibility problems that axe reports in Scalar's style: colours below WCAG's minimum
 * contrast of 4.5, and buttons whose only name is hidden until the mouse hovers over them.
 */
const style = `
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
  customCss: style,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  defaultOpenAllTags: true,
};

/** Renders Scalar's page without inline scripts, which the content security policy would block. */
function renderPage(basePath: string): string {
  const settings = JSON.stringify({ url: `${basePath}/docs/json`, ...configuration });
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Roadbook API</title>
<meta name="description" content="Reference of the Roadbook API, with sample requests to try">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
</head>
<body>
<noscript>This page needs JavaScript. It shows the document at
<a href="/docs/json">/docs/json</a>.</noscript>
<div id="api-reference" data-configuration="${settings}"></div>
<script src="/docs/scalar.js"></script>
</body>
</html>
`.text;
}
