/** The API reference: Scalar's page, which works offline, its script, and the OpenAPI document. */
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
import { describeApi, ORIGIN } from "./openapi.ts";

/** The page and its script are hashed and compressed once, because that delays other clients. */
const shared = { cache: "public", isShared: true } as const;

/** `documented` has the routes of the API, each with a description. */
export function docs(service: Service, documented: AnyElysia) {
  const title = service.pages?.title ?? DEFAULT_TITLE;
  const page = renderPage(title, service);
  let document: string | undefined;
  const script = new Once(async () => {
    const options = { ...shared, coding: "gzip" } as const;
    return new Content("text/javascript; charset=utf-8", await docsScript(), options);
  });

  return new Elysia({ strictPath: true })
    .get(DOCS_PATH, () => page)
    .get(DOCUMENT_PATH, ({ request }) => {
      document ??= describeApi(title, documented.routes);
      const url = JSON.stringify(service.baseUrl(request)).slice(1, -1);
      return new Content(
        JSON_TYPE,
        document.replaceAll(ORIGIN, () => url),
        { cache: "public" },
      );
    })
    .get(DOCS_SCRIPT_PATH, async () => script.get());
}

function renderPage(title: string, { publicUrl, basePath, pages }: Service): Content {
  const configuration = {
    url: basePath + DOCUMENT_PATH,
    favicon: basePath + (pages?.logo ? assetPath(pages.logo.file) : FAVICON_PATH),
    customCss,
    defaultOpenAllTags: true,
    // Turns off everything that calls or advertises another service.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: "never",
    hideClientButton: true,
  };
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · ${title}</title>
</head>
<body>
<noscript>This reference needs JavaScript. The API is also described by an <a href="${basePath}${DOCUMENT_PATH}">OpenAPI document</a>.</noscript>
<script id="api-reference" data-configuration="${JSON.stringify(configuration)}"></script>
<script src="${basePath}${DOCS_SCRIPT_PATH}"></script>
</body>
</html>
`;
  const headers = { "content-security-policy": policyFor(publicUrl) };
  return new Content("text/html; charset=utf-8", page.text, { ...shared, headers });
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

/** Passes axe's checks: contrast of at least 4.5, and names for buttons shown only on hover. */
const customCss = `
body { margin: 0 }
.light-mode {
  --scalar-color-2: #4a4a4a; --scalar-color-3: #666; --scalar-color-blue: #0065a8;
  --scalar-color-green: #0a6b34; --scalar-color-orange: #9a4a00; --scalar-color-red: #b3141d;
  --scalar-color-purple: #6139b8; --scalar-color-yellow: #7a5a00;
}
.dark-mode { --scalar-color-3: #a0a0a0 }
.scalar-code-copy .sr-only > .hidden { display: inline }
`;
