/** The parts that several pages have: cards, rows, links and pictures. */
import type { Texts } from "../domain/languages.ts";
import { completeAvatar, type User } from "../domain/model.ts";
import type { Meta } from "../snapshot/format/meta.ts";
import type { Brand } from "./brand.ts";
import { drawAvatar } from "./drawings.ts";
import type { Formats } from "./formats.ts";
import { Html, html } from "./html.ts";
import { driverPath, type Face } from "./page.ts";
import { fill } from "./texts.ts";

/** The same for all pages of a request, whatever their view. */
export interface PageOptions {
  brand: Brand;
  baseUrl: string;
  /** In front of the path of every link. Without a trailing slash; empty for the root. */
  basePath: string;
  meta: Pick<Meta, "counts">;
  /** On a kiosk, the query of the search that led to this page; empty if none did. */
  lastQuery: string;
}

export interface PageContext extends PageOptions, Formats {
  texts: Texts;
}

export function renderCard(user: Face, detail: string, context: PageContext): Html {
  const row = renderRow(driverPath(user.id), user.name, detail, context);
  return html`<li class="card">${renderAvatar(user, context)}
      ${row}</li>`;
}

export function renderRow(path: string, name: string, detail: string, context: PageContext): Html {
  return html`<p><a href="${linkTo(path, context)}">${name}</a> <span>${detail}</span></p>`;
}

/**
 * The target of a link to a driver or company. Browsers have a button that leads back to the results.
 * A kiosk's page has a link for that, so its targets keep the search.
 */
export function linkTo(path: string, { basePath, lastQuery }: PageContext): string {
  const url = basePath + path;
  if (!lastQuery) return url;
  return `${url}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ q: lastQuery })}`;
}

/**
 * Describes each driver by the company or, without one, by the year of joining. Drivers who then look
 * alike get both.
 */
export function tellApart<Driver extends Pick<User, "name" | "created_at">>(
  drivers: readonly Driver[],
  companyOf: (driver: Driver) => string | null | undefined,
  { texts }: PageContext,
): (driver: Driver) => string {
  const lookOf = (driver: Driver) => JSON.stringify([driver.name, companyOf(driver)]);
  const looks = Map.groupBy(drivers, lookOf);
  return (driver) => {
    const company = companyOf(driver);
    const since = fill(texts.since, { year: driver.created_at.slice(0, 4) });
    if (!company) return since;

    const isAlone = looks.get(lookOf(driver))?.length === 1;
    return isAlone ? company : `${company} · ${since}`;
  };
}

/** At its normal size, a long name would fill a small screen. */
export function renderHeading(text: string): Html {
  const isLong = text.length > 48 || /\S{24}/.test(text);
  return html`<h1${isLong && new Html(' class="long"')}>${text}</h1>`;
}

export function renderButton(url: string, text: string): Html {
  return html`<p class="button"><a href="${url}">${text}</a></p>`;
}

export function renderAvatar(user: Face, { baseUrl }: PageContext): Html {
  return renderPicture("avatar", drawAvatar(user.id, user.name), pictureOf(user, baseUrl));
}

/** The URL of a user's own picture; undefined if the dataset names the drawing. */
export function pictureOf({ id, avatar_url }: Face, baseUrl: string): string | undefined {
  const url = completeAvatar(id, avatar_url, baseUrl);
  return url === completeAvatar(id, null, baseUrl) ? undefined : url;
}

/** Until the picture at `url` has loaded, the drawing is visible, because `alt` is empty. */
export function renderPicture(
  className: "avatar" | "badge",
  drawing: string,
  url: string | undefined,
): Html {
  return html`<span class="${className}" aria-hidden="true">${new Html(drawing)}${
    url && html`<img src="${url}" alt="" decoding="async">`
  }</span>`;
}
