/** The parts that several pages have: cards, rows, links and pictures. */
import type { Texts } from "../domain/languages.ts";
import {
  type CompanySearchResult,
  completeAvatar,
  type Stored,
  type User,
} from "../domain/model.ts";
import type { Meta } from "../snapshot/format/meta.ts";
import type { Brand } from "./brand.ts";
import { drawAvatar } from "./drawings.ts";
import type { Formats } from "./formats.ts";
import { Html, html } from "./html.ts";
import { companyPath, driverPath, type Face } from "./page.ts";
import { fill } from "./texts.ts";

export interface PageContext extends Formats {
  texts: Texts;
  brand: Brand;
  baseUrl: string;
  /** In front of the path of every link. Without a trailing slash; empty for the root. */
  basePath: string;
  meta: Pick<Meta, "counts">;
  /** On a kiosk, the query of the search that led to this page. */
  search: string;
  /** The drivers below a view of a few rows. */
  others: readonly Stored<User>[];
}

export function renderCards(
  heading: string,
  drivers: readonly Stored<User>[],
  context: PageContext,
): Html | undefined {
  if (drivers.length === 0) return undefined;
  const detailOf = tellApart(drivers, ({ company }) => company?.name, context);
  const cards = drivers.map((user) => renderCard(user, detailOf(user), context));
  return html`<h2>${heading}</h2><ul class="cards">${cards}</ul>`;
}

export function renderCard(user: Face, detail: string, context: PageContext): Html {
  const row = renderRow(driverPath(user.id), user.name, detail, context);
  return html`<li class="card">${renderAvatar(user, context)}
      ${row}</li>`;
}

export function renderCompanyRow(
  company: CompanySearchResult,
  name: Html | string,
  publicMembers: number | undefined,
  context: PageContext,
): Html {
  const members = describeMembers(company, publicMembers, context);
  return renderRow(companyPath(company.id), name, members, context);
}

export function renderRow(
  path: string,
  name: Html | string,
  detail: string,
  context: PageContext,
): Html {
  return html`<p><a href="${linkTo(path, context)}">${name}</a> <span>${detail}</span></p>`;
}

/**
 * The target of a link to a driver or company. Browsers have a button that leads back to the results.
 * A kiosk's page has a link for that, so its targets keep the search.
 */
export function linkTo(path: string, { basePath, search }: PageContext): string {
  const url = basePath + path;
  if (!search) return url;
  return `${url}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ q: search })}`;
}

/** The number of members is the platform's own, and may be lower than that of public ones. */
export function describeMembers(
  { member_count }: CompanySearchResult,
  publicMembers: number | undefined,
  { texts, formatPlural, formatNumber }: PageContext,
): string {
  const members = formatPlural(member_count, texts.members);
  if (publicMembers === undefined || publicMembers >= member_count) return members;
  return fill(texts.publicMembers, { members, count: formatNumber(publicMembers) });
}

/** Describes each driver by the company, or else the year of joining; those who look alike by both. */
export function tellApart<Driver extends Pick<User, "name" | "created_at">>(
  drivers: readonly Driver[],
  companyOf: (driver: Driver) => string | null | undefined,
  { texts }: PageContext,
): (driver: Driver) => string {
  const lookOf = (driver: Driver) => JSON.stringify([driver.name, companyOf(driver)]);
  const looks = drivers.map(lookOf);
  return (driver) => {
    const company = companyOf(driver);
    const since = fill(texts.since, { year: driver.created_at.slice(0, 4) });
    if (!company) return since;

    const own = lookOf(driver);
    const isAlone = looks.filter((look) => look === own).length === 1;
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

/** The URL of a user's own picture. A dataset may also name the drawing, which is none. */
export function pictureOf({ id, avatar_url }: Face, baseUrl: string): string | undefined {
  const url = completeAvatar(id, avatar_url, baseUrl);
  return url === completeAvatar(id, null, baseUrl) ? undefined : url;
}

/** Until the picture at `url` has loaded, the drawing is visible, because `alt` is empty. */
export function renderPicture(
  kind: "avatar" | "badge",
  drawing: string,
  url: string | undefined,
): Html {
  return html`<span class="${kind}" aria-hidden="true">${new Html(drawing)}${
    url && html`<img src="${url}" alt="" decoding="async">`
  }</span>`;
}
