/** Renders the complete HTML document around a view: head, search form and footer. */
import { html, withBasePath } from "./html.ts";
import { renderPreview } from "./preview.ts";
import { renderView, titleOf } from "./render.ts";
import { type Language, languages } from "./texts.ts";
import type { View } from "./view.ts";

interface DocumentOptions {
  view: View;
  language: Language;
  /** The community's name. */
  title: string;
  /**
   * Adapts the page to an unattended screen: no link leaves the site, and the page returns to the
   * start when idle.
   */
  kiosk?: boolean | undefined;
  /** How long a kiosk must be idle before it returns to the start page. */
  kioskIdleMs?: number | undefined;
  featured: readonly number[];
  /** Whether search engines may list the page. */
  allowIndexing?: boolean | undefined;
  /** The URL of the start page, without a trailing slash. */
  baseUrl: string;
  /** The path under which the server is mounted; empty for the root. */
  basePath: string;
  scriptPath: string;
  stylePath: string;
  logoPath: string | undefined;
}

export function renderDocument(options: DocumentOptions): string {
  const { view, language, title, kiosk, kioskIdleMs, featured, allowIndexing } = options;
  const { basePath, scriptPath, stylePath, logoPath } = options;
  const texts = languages[language];
  const query = "query" in view ? view.query : "";
  const { text } = html`<!doctype html>
<html lang="${language}" class="${kiosk && "kiosk"}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${!allowIndexing && html`<meta name="robots" content="noindex">`}
<title>${titleOf(view, language, title)}</title>
${renderPreview(options)}
<link rel="icon" href="${logoPath ?? "/favicon.svg"}">
<link rel="stylesheet" href="${stylePath}">
<script src="${scriptPath}" type="module" data-featured="${featured.join(" ")}"
  data-base="${basePath}" data-title="${title}" data-idle="${kiosk && kioskIdleMs}"></script>
</head>
<body>
<a class="skip" href="#view">${texts.skipToContent}</a>
<header class="top">
  <a class="plate" href="/" aria-label="${title}, ${texts.toStart}">${
    logoPath && html`<img src="${logoPath}" alt="">`
  }${title}</a>
  <form action="/" method="get" role="search">
    <label for="q">${texts.searchLabel}</label>
    <div class="field">
      <input id="q" name="q" type="search" value="${query}" placeholder="${texts.searchHint}"
        autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="search"
        maxlength="200">
      <button>${texts.searchButton}</button>
    </div>
  </form>
</header>
<main id="view">${renderView(view, language)}</main>
${!kiosk && html`<footer><a href="/docs">${texts.api}</a></footer>`}
</body>
</html>
`;
  return withBasePath(text, basePath);
}
