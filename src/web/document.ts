/** Renders the complete HTML document around a view: head, search form and footer. */
import { type Language, languages, type Texts } from "../domain/languages.ts";
import { MAX_NAME } from "../domain/model.ts";
import { formatsIn } from "./formats.ts";
import { Html, html } from "./html.ts";
import { DOCS_PATH, FAVICON_PATH, type View } from "./page.ts";
import type { PageContext, PageOptions } from "./parts.ts";
import { type Rendered, renderView } from "./render.ts";

interface DocumentOptions extends PageOptions {
  view: View;
  language: Language;
  /** The language, perhaps with the visitor's region. */
  locale: string;
  scriptPath: string;
  stylePath: string;
  logoPath: string | undefined;
  /** The script in the head of a kiosk's page. */
  rescue: string;
}

type DocumentContext = DocumentOptions & PageContext;

export function renderDocument(options: DocumentOptions): string {
  const texts = languages[options.language];
  const context = { ...options, ...formatsIn(options.locale), texts };
  const { view, language, brand, basePath, logoPath } = context;
  const { title, kiosk } = brand;

  const rendered = renderView(view, context);
  // The scripts of a kiosk, also of another release, know a page by its class and by the names and
  // the order of its files (kiosk.ts), so the class stays the last attribute.
  const { text } = html`<!doctype html>
<html lang="${language}"${kiosk && html` class="kiosk"`}>
${renderHead(rendered, context)}
<body>
<a class="skip" href="#view">${texts.skipToContent}</a>
<header class="top">
  <a class="plate" href="${basePath}/" aria-label="${title}, ${texts.toStart}">${
    logoPath && html`<span><img src="${basePath}${logoPath}" alt=""></span>`
  }${title}</a>
  ${renderSearch(context)}
  ${kiosk && renderKeys(context)}
</header>
<main id="view"${kiosk && html` tabindex="0"`}>${rendered.main}</main>
${kiosk ? renderNotices(texts) : renderFooter(context)}
</body>
</html>
`;
  return text;
}

function renderHead(rendered: Rendered, context: DocumentContext): Html {
  const { brand, basePath, scriptPath, stylePath, logoPath, rescue } = context;
  const { title, kiosk, kioskIdle, allowIndexing } = brand;
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${!allowIndexing && html`<meta name="robots" content="noindex">`}
${kiosk && html`<script>${new Html(rescue)}</script>`}
<title>${!kiosk && `${rendered.name} · `}${title}</title>
${
  // A kiosk keeps its head, so nothing of what a visitor looks at may be there.
  !kiosk && renderPreview(rendered, context)
}
<link rel="icon" href="${basePath}${logoPath ?? FAVICON_PATH}">
<link rel="stylesheet" href="${basePath}${stylePath}">
<script src="${basePath}${scriptPath}" defer data-base="${basePath}" data-idle="${kiosk && kioskIdle}"></script>
</head>`;
}

/** The tags for link previews. */
function renderPreview(rendered: Rendered, context: DocumentContext): Html {
  const { view, brand, baseUrl, logoPath, texts } = context;
  const { description, path, avatar, name } = rendered;
  const title = path === undefined ? texts.title : name;
  // Few programs preview an SVG.
  const logo = logoPath?.endsWith(".png") && baseUrl + logoPath;
  const image = avatar ?? logo;
  const url = path !== undefined && baseUrl + path;
  return html`<meta name="description" content="${description}">
${url && html`<link rel="canonical" href="${url}">\n<meta property="og:url" content="${url}">`}
<meta property="og:site_name" content="${brand.title}">
<meta property="og:type" content="${view.kind === "driver" ? "profile" : "website"}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
${image && html`<meta property="og:image" content="${image}">`}
<meta name="twitter:card" content="summary">`;
}

function renderSearch({ view, brand, basePath, texts }: DocumentContext): Html {
  const { kiosk } = brand;
  return html`<form action="${basePath}/" method="get" role="search">
    <label for="q">${texts.searchLabel}</label>
    <div class="field">
      <input id="q" name="q" type="search" value="${queryOf(view)}" placeholder="${kiosk ? texts.searchLabel : texts.searchHint}"
        autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="search"
        maxlength="${MAX_NAME}"${kiosk && html` inputmode="none"`}>
      <button>${texts.searchButton}</button>
    </div>
  </form>`;
}

function renderKeys(context: DocumentContext): Html {
  const { view, language, brand, basePath, lastQuery, texts } = context;
  const rowOf = (keys = "") =>
    [...keys].map(
      (key) => html`<button type="button" value="${key}">${key.toUpperCase()}</button>`,
    );
  const [top, home, bottom] = texts.keys.split(" ").map(rowOf);
  const start = `${basePath}/`;
  const leadsBack = lastQuery !== "" && queryOf(view) === undefined;
  const results = `${start}?${new URLSearchParams({ q: lastQuery })}`;
  const buttons = Object.entries(languages).map(
    ([code, { languageName }]) =>
      html`<button type="button" lang="${code}" aria-pressed="${String(code === language)}">${languageName}</button>`,
  );
  return html`<div class="keys"><div>${rowOf("1234567890")}</div><div>${top}</div><div>${home}</div><div>${bottom}
    <button type="button" value=" " aria-label="${texts.spaceKey}">␣</button>
    <button type="button" value="" aria-label="${texts.backspaceKey}">⌫</button></div></div>
  <div class="bar"><a ${linkIf(view.kind !== "start" || view.after > 0, start)} aria-label="${texts.backToStart}">${texts.start}</a><a id="back" ${linkIf(leadsBack, results)}><span aria-hidden="true">←</span>${texts.results}</a>${
    brand.language === undefined && buttons
  }</div>`;
}

/** The query of a page of results, or of a problem in its place. */
function queryOf(view: View): string | undefined {
  return view.kind === "results" || view.kind === "problem" ? view.query : undefined;
}

/** A link that leads nowhere from a page keeps its place. */
function linkIf(leads: boolean, url: string): Html {
  return leads ? html`href="${url}"` : html`role="link" aria-disabled="true"`;
}

function renderFooter({ brand, baseUrl, basePath, texts }: DocumentContext): Html {
  const links = brand.links?.map(
    ({ text, url }) => html`<a href="${new URL(url, baseUrl).href}">${text}</a>`,
  );
  return html`<footer>${links}<a href="${basePath}${DOCS_PATH}">${texts.api}</a></footer>`;
}

/** The notices of a kiosk while a page does not come, and before it starts over. */
function renderNotices(texts: Texts): Html {
  const [before = "", after = ""] = texts.startingOver.split("{seconds}");
  return html`<p class="moment" role="status" hidden>${texts.oneMoment}</p>
<p class="soon" role="alert" hidden>${before}<b aria-hidden="true"></b>${after} <button type="button">${texts.stay}</button></p>`;
}
