/** Renders the complete HTML document around a view: head, search form and footer. */
import { type Html, html, withBasePath } from "./html.ts";
import { dateIn } from "./plural.ts";
import { pathOf, renderPreview } from "./preview.ts";
import { nameOf, type PageContext, renderView } from "./render.ts";
import { languages, type Texts } from "./texts.ts";
import type { View } from "./view.ts";

interface DocumentOptions extends PageContext {
  view: View;
  /** How long a kiosk must be idle before it returns to the start page. */
  kioskIdleMs: number;
  /** Whether search engines may list the page. */
  allowIndexing?: boolean | undefined;
  /** The path under which the server is mounted; empty for the root. */
  basePath: string;
  scriptPath: string;
  stylePath: string;
  logoPath: string | undefined;
  /** When the data was built. */
  builtAt: string;
}

export function renderDocument(options: DocumentOptions): string {
  const { view, language, brand, kioskIdleMs, allowIndexing, baseUrl, builtAt } = options;
  const { basePath, scriptPath, stylePath, logoPath } = options;
  const { title, kiosk, links = [] } = brand;
  const texts = languages[language];
  const query = "query" in view ? view.query : "";
  const { text } = html`<!doctype html>
<html lang="${language}"${kiosk && html` class="kiosk"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${!allowIndexing && html`<meta name="robots" content="noindex">`}
<title>${nameOf(view, texts)} · ${title}</title>
${renderPreview(options)}
<link rel="icon" href="${logoPath ?? "/favicon.svg"}">
<link rel="stylesheet" href="${stylePath}">
<script src="${scriptPath}" defer data-base="${basePath}" data-idle="${kiosk && kioskIdleMs}"></script>
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
        maxlength="200"${kiosk && html` inputmode="none"`}>
      <button>${texts.searchButton}</button>
    </div>
  </form>
  ${kiosk && renderKeys(texts)}
</header>
<main id="view">${renderView(view, options)}</main>
<p class="printed">${baseUrl + (pathOf(view) ?? "/")} · ${texts.dataFrom(dateIn(language, builtAt))}</p>
${
  !kiosk &&
  html`<footer>${links.map(
    ({ text, url }) => html`<a href="${new URL(url, baseUrl).href}">${text}</a>`,
  )}<a href="/docs">${texts.api}</a></footer>`
}
</body>
</html>
`;
  return withBasePath(text, basePath);
}

/** The keys of a kiosk without a keyboard. The page's script handles them. */
function renderKeys(texts: Texts): Html {
  const keys = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890"].map(
    (key) => html`<button type="button" value="${key.toLowerCase()}">${key}</button>`,
  );
  return html`<div class="keys">${keys}
    <button type="button" value=" " aria-label="${texts.spaceKey}">␣</button>
    <button type="button" value="" aria-label="${texts.backspaceKey}">⌫</button></div>
  <p class="hint">${texts.scriptHint}</p>`;
}
