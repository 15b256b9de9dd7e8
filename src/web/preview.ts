/** The tags for link previews: description, canonical link, OpenGraph and Twitter. */
import { type Html, html } from "./html.ts";
import { dateIn } from "./plural.ts";
import { countsOf, nameOf, type PageContext, pointsOf } from "./render.ts";
import { type Language, languages } from "./texts.ts";
import type { View } from "./view.ts";

interface PreviewOptions extends PageContext {
  view: View;
  logoPath: string | undefined;
}

/** Renders the tags for the head. Error views get the site's title and description. */
export function renderPreview(options: PreviewOptions): Html {
  const { view, language, brand, baseUrl } = options;
  const texts = languages[language];
  const path = pathOf(view);
  const name = path === undefined ? texts.title : nameOf(view, texts);
  const image = imageOf(options);
  const description = descriptionOf(view, language);
  const url = path !== undefined && baseUrl + path;
  return html`<meta name="description" content="${description}">
${url && html`<link rel="canonical" href="${url}">\n<meta property="og:url" content="${url}">`}
<meta property="og:site_name" content="${brand.title}">
<meta property="og:type" content="${view.kind === "driver" ? "profile" : "website"}">
<meta property="og:title" content="${name}">
<meta property="og:description" content="${description}">
<meta property="og:image" content="${image}">
<meta name="twitter:card" content="summary">
<meta name="twitter:title" content="${name}">
<meta name="twitter:description" content="${description}">
<meta name="twitter:image" content="${image}">`;
}

/** The canonical path of a view; undefined for an error view. */
export function pathOf(view: View): string | undefined {
  switch (view.kind) {
    case "start":
      return "/";
    case "results":
      return `/?${new URLSearchParams({ q: view.query })}`;
    case "driver":
      return `/drivers/${view.user.id}`;
    case "problem":
      return undefined;
  }
}

function descriptionOf(view: View, language: Language): string {
  const texts = languages[language];
  switch (view.kind) {
    case "start": {
      const { drivers, companies } = view.counts;
      return `${texts.description} ${countsOf(drivers, companies, texts)}.`;
    }
    case "results":
      return countsOf(view.drivers.length, view.companies.length, texts);
    case "driver": {
      const { user, achievements } = view;
      const company = user.company ? [`${user.company.name}, ${user.company.role}`] : [];
      const since = `${texts.memberSince} ${dateIn(language, user.created_at)}`;
      return [...company, texts.points(pointsOf(achievements)), since].join(" · ");
    }
    case "problem":
      return texts.description;
  }
}

/**
 * The URL of the driver's avatar, or else of the logo or a sign. Few programs preview SVGs, so
 * drawings are linked as PNGs.
 */
function imageOf({ view, baseUrl, logoPath }: PreviewOptions): string {
  if (view.kind !== "driver")
    return baseUrl + (logoPath?.endsWith(".png") ? logoPath : "/sign.png");
  const { avatar_url } = view.user;
  const isDrawn = avatar_url.startsWith(`${baseUrl}/avatars/`);
  return isDrawn ? avatar_url.replace(/\.svg$/, ".png") : avatar_url;
}
