/** Renders the complete HTML document around a view: head, search form and footer. */

import { type Language, languages, type Texts } from "../domain/languages.ts";
import { MAX_NAME } from "../domain/model.ts";
import { Html, html, withBasePath } from "./html.ts";
import { RESCUE } from "./kiosk-rescue.ts";
import { DOCS_PATH, FAVICON_PATH, SIGN_PATH } from "./page-paths.ts";
import { type PageContext, type Rendered, renderFeatured, renderView } from "./render.ts";
import { translationIn } from "./translation.ts";
import type { View } from "./view.ts";

interface DocumentOptions
  extends Pick<PageContext, "brand" | "baseUrl" | "meta" | "search" | "others"> {
  view: View;
  language: Language;
  basePath: string;
  scriptPath: string;
  stylePath: string;
  logoPath: string | undefined;
}

export function renderDocument(options: DocumentOptions): string {
  const { view, language, baseUrl, basePath, scriptPath, stylePath, logoPath } = options;
  const { title, kiosk, kioskIdle, allowIndexing, links = [] } = options.brand;
  const context = { ...options, ...translationIn(language) };
  // Without achievements in the data, no page speaks of them.
  if (options.meta.counts.achievements === 0) {
    context.texts = { ...context.texts, description: context.texts.whatIsFound };
  }
  const { texts } = context;

  const rendered = renderView(view, context);
  const { text } = html`<!doctype html>
<html lang="${language}"${kiosk && html` class="kiosk"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${!allowIndexing && html`<meta name="robots" content="noindex">`}
${kiosk && html`<script>${new Html(RESCUE)}</script>`}
<title>${!kiosk && `${rendered.name} · `}${title}</title>
${
  // A kiosk keeps its head, so nothing of what a visitor looks at may be there.
  !kiosk && renderPreview(rendered, texts, options)
}
<link rel="icon" href="${logoPath ?? FAVICON_PATH}">
<link rel="stylesheet" href="${stylePath}">
<script src="${scriptPath}" defer data-base="${basePath}" data-idle="${kiosk && kioskIdle}"></script>
</head>
<body>
<a class="skip" href="#view">${texts.skipToContent}</a>
<header class="top">
  <a class="plate" href="/" aria-label="${title}, ${texts.toStart}">${
    logoPath && html`<span><img src="${logoPath}" alt=""></span>`
  }${title}</a>
  <form action="/" method="get" role="search">
    <label for="q">${texts.searchLabel}</label>
    <div class="field">
      <input id="q" name="q" type="search" value="${"query" in view && view.query}" placeholder="${kiosk ? texts.searchLabel : texts.searchHint}"
        autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="search"
        maxlength="${MAX_NAME}"${kiosk && html` inputmode="none"`}>
      <button>${texts.searchButton}</button>
    </div>
  </form>
  ${kiosk && renderKeys(options, texts)}
</header>
<main id="view"${kiosk && html` tabindex="0"`}>${rendered.main}${renderFeatured(options.others, context)}</main>
${
  !kiosk &&
  html`<footer>${links.map(
    ({ text, url }) => html`<a href="${new URL(url, baseUrl).href}">${text}</a>`,
  )}<a href="${DOCS_PATH}">${texts.api}</a></footer>`
}
${kiosk && renderNotices(texts)}
</body>
</html>
`;
  return withBasePath(text, basePath);
}

/** The tags for link previews. */
function renderPreview(rendered: Rendered, texts: Texts, options: DocumentOptions): Html {
  const { description, path, avatar, name } = rendered;
  const { brand, baseUrl } = options;
  const title = path === undefined ? texts.title : name;
  const image = avatar ?? baseUrl + SIGN_PATH;
  const url = path !== undefined && baseUrl + path;
  return html`<meta name="description" content="${description}">
${url && html`<link rel="canonical" href="${url}">\n<meta property="og:url" content="${url}">`}
<meta property="og:site_name" content="${brand.title}">
<meta property="og:type" content="${avatar ? "profile" : "website"}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:image" content="${image}">
<meta name="twitter:card" content="${avatar ? "summary" : "summary_large_image"}">`;
}

function renderKeys({ view, language, brand, search }: DocumentOptions, texts: Texts): Html {
  const keys = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890"].map(
    (key) => html`<button type="button" value="${key.toLowerCase()}">${key}</button>`,
  );
  const start = view.kind !== "start" && "/";
  const results = search && !("query" in view) && `/?${new URLSearchParams({ q: search })}`;
  const buttons = Object.entries(languages).map(
    ([code, { languageName }]) =>
      html`<button type="button" lang="${code}" aria-pressed="${String(code === language)}">${languageName}</button>`,
  );
  return html`<div class="keys">${keys}
    <button type="button" value=" " aria-label="${texts.spaceKey}">␣</button>
    <button type="button" value="" aria-label="${texts.backspaceKey}">⌫</button></div>
  <div class="bar"><a ${linkIf(start)} aria-label="${texts.backToStart}">${texts.start}</a><a id="back" ${linkIf(results)}>${texts.results}</a>${
    brand.language === undefined && buttons
  }</div>`;
}

/** A link that leads nowhere from a page keeps its place. */
function linkIf(path: string | false | undefined): Html {
  return path ? html`href="${path}"` : html`role="link" aria-disabled="true"`;
}

/** The notices of a kiosk while a page does not come, and before it starts over. */
function renderNotices(texts: Texts): Html {
  const [before = "", after = ""] = texts.startingOver.split("{seconds}");
  return html`<p class="moment" role="status" hidden>${texts.oneMoment}</p>
<p class="soon" role="alert" hidden>${before}<b aria-hidden="true"></b>${after} <button type="button">${texts.stay}</button></p>`;
}
