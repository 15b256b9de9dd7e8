/** Renders views as HTML. All functions are pure. */
import type { Forms, Texts } from "../domain/languages.ts";
import {
  type AchievementEntry,
  type CompanySearchResult,
  completeAvatar,
  MAX_RESULTS,
  type Stored,
  type User,
} from "../domain/model.ts";
import { fold } from "../search/fold.ts";
import type { Meta } from "../snapshot/format/meta.ts";
import { type Brand, DEFAULT_TITLE } from "./brand.ts";
import { drawAvatar, drawBadge } from "./drawings.ts";
import type { Formats } from "./formats.ts";
import { Html, html } from "./html.ts";
import { markMatches } from "./mark.ts";
import {
  type CompanyView,
  companyPath,
  type DriverView,
  driverPath,
  type Face,
  type Found,
  type ProblemView,
  type ResultsView,
  type StartView,
  type View,
} from "./page.ts";
import { clockOf, fill } from "./texts.ts";

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

/** The main part of a page, and what its head and link previews say about it. */
export interface Rendered {
  name: string;
  description: string;
  /** The canonical path. A problem has none. */
  path?: string;
  /** A picture of a person, for link previews. */
  avatar?: string | undefined;
  main: Html;
}

/** Longer lists of achievements are cut, so that the link below leads to more than a few. */
const MAX_ACHIEVEMENTS = 40;
const NEWEST_ACHIEVEMENTS = 24;

export function renderView(view: View, context: PageContext): Rendered {
  if (view.kind === "start") return renderStart(view, context);
  if (view.kind === "results") return renderResults(view, context);
  if (view.kind === "company") return renderCompany(view, context);
  return view.kind === "driver" ? renderDriver(view, context) : renderProblem(view, context);
}

function renderStart(view: StartView, context: PageContext): Rendered {
  const { drivers, companies, after, next } = view;
  const { brand, texts, formatPlural, meta, basePath } = context;
  const hasDrivers = meta.counts.public_users > 0;
  const counts = [
    hasDrivers && formatPlural(meta.counts.public_users, texts.driverCount),
    meta.counts.companies > 0 && formatPlural(meta.counts.companies, texts.companyCount),
  ];
  const found = counts.filter(Boolean).join(", ");
  const publicMembers = hasDrivers ? undefined : 0;
  const rows = companies.map((company) => {
    return renderCompanyRow(company, company.name, publicMembers, context);
  });
  const heading =
    brand.title === DEFAULT_TITLE ? texts.title : fill(texts.driversOf, { title: brand.title });

  return {
    name: texts.title,
    description: found ? `${describeSite(context)} ${found}.` : describeSite(context),
    path: after > 0 ? `/?after=${after}` : "/",
    main: html`<h1>${heading}</h1>
    <p class="counts">${hasDrivers ? found : texts.nobodyPublic}</p>
    ${renderCards(featuredHeading(context), drivers, context)}
    ${next && renderButton(`${basePath}/?after=${next}`, texts.more)}
    ${view.needsScriptHint && html`<p class="hint">${texts.scriptHint}</p>`}
    <div class="boards">${rows.length > 0 && renderBoard(texts.companies, rows)}</div>`,
  };
}

/** Without achievements in the data, no page speaks of them. */
function describeSite({ texts, meta }: PageContext): string {
  return meta.counts.achievements > 0 ? texts.description : texts.whatIsFound;
}

function renderResults(view: ResultsView, context: PageContext): Rendered {
  const { query, spellings, drivers, companies } = view;
  const { texts, formatPlural } = context;
  const countOf = ({ length }: object[], forms: Forms, most: string) => {
    if (length === 0) return [];
    return length < MAX_RESULTS ? formatPlural(length, forms) : fill(most, { count: MAX_RESULTS });
  };
  const counts = [
    countOf(drivers, texts.driverCount, texts.firstDrivers),
    countOf(companies, texts.companyCount, texts.firstCompanies),
  ];
  const found = counts.flat().join(", ");

  const rows = renderFound(view, spellings, context);
  const similar = view.similar && renderFound(view.similar, [], context);
  const boards = [
    { heading: texts.drivers, rows: rows.drivers },
    { heading: texts.companies, rows: rows.companies },
    { heading: texts.didYouMean, rows: similar ? [...similar.drivers, ...similar.companies] : [] },
  ].filter(({ rows }) => rows.length > 0);
  // On a phone, a company of exactly this name would otherwise be below ten drivers.
  if (companies.some(({ name }) => fold(name) === spellings[0])) boards.reverse();

  return {
    name: fill(texts.resultsFor, { query }),
    description: found || texts.problems.nothing,
    path: `/?${new URLSearchParams({ q: query })}`,
    main: html`${renderHeading(fill(texts.resultsFor, { query }))}
    ${
      boards.length > 0
        ? html`<p class="counts">${found || texts.problems.nothing}</p>`
        : html`<div class="problem"><h2>${texts.problems.nothing}</h2><p>${texts.advice.nothing}</p></div>`
    }
    <div class="boards">${boards.map(({ heading, rows }) =>
      renderBoard(heading, rows, rows.length === MAX_RESULTS && texts.moreResults),
    )}</div>
    ${found === "" && renderWayOut(context)}`,
  };
}

function renderFound({ drivers, companies }: Found, spellings: string[], context: PageContext) {
  const details = tellApart(drivers, (driver) => driver.company ?? undefined, context);
  return {
    drivers: drivers.map((driver, at) => {
      const name = markMatches(driver.name, spellings);
      const row = renderRow(driverPath(driver.id), name, details[at], context);
      return html`${renderAvatar(driver, context)}${row}`;
    }),
    companies: companies.map((company) =>
      renderCompanyRow(company, markMatches(company.name, spellings), undefined, context),
    ),
  };
}

/** Without achievements, nobody stands out unless the operator says so. */
function featuredHeading({ texts, brand, meta }: PageContext): string {
  const { featured } = brand;
  const standOut = featured === undefined ? meta.counts.achievements > 0 : featured !== "all";
  return standOut ? texts.featured : texts.drivers;
}

export function renderCards(
  heading: string,
  drivers: readonly Stored<User>[],
  context: PageContext,
): Html | undefined {
  if (drivers.length === 0) return undefined;
  const details = tellApart(drivers, (user) => user.company?.name, context);
  const cards = drivers.map((user, at) => renderCard(user, details[at], context));
  return html`<h2>${heading}</h2><ul class="cards">${cards}</ul>`;
}

function renderBoard(heading: string, rows: Html[], note?: string | false): Html {
  return html`<section><h2>${heading}</h2>
      <ul class="board">${rows.map((row) => html`<li>${row}</li>`)}</ul>
      ${note && html`<p class="hint">${note}</p>`}</section>`;
}

function renderRow(
  path: string,
  name: Html | string,
  detail: string | undefined,
  context: PageContext,
): Html {
  return html`<p><a href="${linkTo(path, context)}">${name}</a> <span>${detail}</span></p>`;
}

/**
 * The target of a link to a driver or company. Browsers have a button that leads back to the results.
 * A kiosk's page has a link for that, so its targets keep the search.
 */
function linkTo(path: string, { basePath, search }: PageContext): string {
  const url = basePath + path;
  if (!search) return url;
  return `${url}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ q: search })}`;
}

function renderCompanyRow(
  company: CompanySearchResult,
  name: Html | string,
  publicMembers: number | undefined,
  context: PageContext,
): Html {
  const members = describeMembers(company, publicMembers, context);
  return renderRow(companyPath(company.id), name, members, context);
}

/** The number of members is the platform's own, and may be lower than that of public ones. */
function describeMembers(
  { member_count }: CompanySearchResult,
  publicMembers: number | undefined,
  { texts, formatPlural, formatNumber }: PageContext,
): string {
  const members = formatPlural(member_count, texts.members);
  if (publicMembers === undefined || publicMembers >= member_count) return members;
  return fill(texts.publicMembers, { members, count: formatNumber(publicMembers) });
}

/** Describes each driver by the company, or else the year of joining; those who look alike by both. */
function tellApart<Driver extends Pick<User, "name" | "created_at">>(
  drivers: readonly Driver[],
  companyOf: (driver: Driver) => string | undefined,
  { texts }: PageContext,
): string[] {
  const looks = drivers.map((driver) => JSON.stringify([driver.name, companyOf(driver)]));
  return drivers.map((driver, at) => {
    const company = companyOf(driver);
    const since = fill(texts.since, { year: driver.created_at.slice(0, 4) });
    const isAlone = looks.indexOf(looks[at] ?? "") === looks.lastIndexOf(looks[at] ?? "");
    if (company === undefined) return since;
    return isAlone ? company : `${company} · ${since}`;
  });
}

function renderDriver(view: DriverView, context: PageContext): Rendered {
  const { user, achievements, showsAll } = view;
  const { texts, brand, formatPlural, formatDate, formatNumber } = context;
  const { id, name, company, roles, created_at } = user;
  const isCut = !showsAll && achievements.length > MAX_ACHIEVEMENTS;
  const shown = isCut ? achievements.slice(0, NEWEST_ACHIEVEMENTS) : achievements;
  const points = achievements.reduce((sum, { achievement }) => sum + achievement.points, 0);
  const hasAny = achievements.length > 0;

  const facts = [
    [texts.memberSince, renderDate(created_at, context)],
    [texts.achievements, hasAny && formatNumber(achievements.length)],
    [texts.totalPoints, hasAny && formatNumber(points)],
  ].filter(([, value]) => value);
  const roleNames = roles.map(({ name }) => name).join(", ");

  const employer =
    company &&
    html`<p><a href="${linkTo(companyPath(company.id), context)}"><bdi>${company.name}</bdi></a>, <bdi>${company.role}</bdi></p>`;

  const details = [
    company && `${company.name}, ${company.role}`,
    hasAny && formatPlural(points, texts.points),
    `${texts.memberSince} ${formatDate(created_at)}`,
  ];

  return {
    name,
    description: details.filter(Boolean).join(" · "),
    path: driverPath(id),
    avatar: previewedAvatar(user, context),
    main: html`<article>
    <header class="sign">${renderAvatar(user, context)}<div>
      ${renderHeading(name)}
      ${employer}
    </div></header>
    <dl class="facts">${facts.map(
      ([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`,
    )}${roleNames && html`<div class="roles"><dt>${texts.roles}</dt><dd>${roleNames}</dd></div>`}</dl>
    ${renderOwnPage(brand.driverLink, id, context)}
    ${context.meta.counts.achievements > 0 && html`<h2>${texts.achievements}</h2>${!hasAny && html`<p>${texts.noAchievements}</p>`}`}
    <ul class="badges">${shown.map((entry) => renderAchievement(entry, context))}</ul>
    ${isCut && renderButton(linkTo(`${driverPath(id)}?achievements=all`, context), fill(texts.allAchievements, { count: achievements.length }))}
  </article>`,
  };
}

function renderCompany(view: CompanyView, context: PageContext): Rendered {
  const { company, drivers, publicMembers, after, next } = view;
  const { texts, brand } = context;
  const members = describeMembers(company, publicMembers, context);
  const path = companyPath(company.id);
  const cards = drivers.map((driver) => renderCard(driver, driver.role ?? "", context));

  return {
    name: company.name,
    description: `${members} · ${brand.title}`,
    path: after > 0 ? `${path}?after=${after}` : path,
    main: html`<header class="sign"><div>${renderHeading(company.name)}<p>${members}</p></div></header>
    ${renderOwnPage(brand.companyLink, company.id, context)}
    <h2>${texts.drivers}</h2>
    ${cards.length === 0 && html`<p>${texts.nobodyThere}</p>`}
    <ul class="cards">${cards}</ul>
    ${next && renderButton(linkTo(`${path}?after=${next}`, context), texts.more)}`,
  };
}

function renderAchievement(entry: AchievementEntry, context: PageContext): Html {
  const { achievement, tier, unlocked_at } = entry;
  const { texts, brand, formatPlural } = context;
  const { name, description, icon, type, tier: tiers, points } = achievement;
  const reached = tiers > 1 && tiers >= tier ? texts.tierOf : texts.tier;

  const picture = brand.icons && resolveIcon(icon, brand.icons);
  const worth = [fill(reached, { tier, tiers }), formatPlural(points, texts.points)];
  // The kind is in the language of the data.
  const facts = [renderDate(unlocked_at, context), html`<span lang="">${type}</span>`];
  return html`<li>
    ${renderPicture("badge", drawBadge({ name, type, tier, points }, !picture), picture)}
    <div><h3>${name}</h3><p>${description}</p>${renderDots(worth)}${renderDots(facts)}</div></li>`;
}

/** Returns undefined for an icon that is not below the base, such as one of another site. */
function resolveIcon(icon: string, icons: string): string | undefined {
  const base = new URL(icons.replace(/\/*$/, "/")).href;
  const url = URL.parse(icon, base)?.href;
  return url?.startsWith(base) ? url : undefined;
}

/** The style sheet hides a dot at the start of a line. */
function renderDots(details: (Html | string)[]): Html {
  const parts = details.map((detail, at) => html`<span><i>${at > 0 && "· "}</i>${detail}</span> `);
  return html`<p class="dots quiet">${parts}</p>`;
}

/** The style sheet keeps a date on one line. */
function renderDate(time: string, { formatDate }: PageContext): Html {
  return html`<time datetime="${time}">${formatDate(time)}</time>`;
}

function renderProblem(view: ProblemView, context: PageContext): Rendered {
  const { texts } = context;
  const { problem, query, waitSeconds: seconds } = view;
  const isSearch = query !== undefined;
  const waitText = isSearch ? texts.wait : texts.companyWait;
  const wait =
    seconds !== undefined &&
    html`<p class="wait" role="timer" data-seconds="${seconds}" data-text="${waitText}">${fill(waitText, { time: clockOf(seconds) })}</p>
    <p class="button" hidden><a href="">${texts.tryAgain}</a></p>`;
  const advice = seconds !== undefined && !isSearch ? texts.companyLimit : texts.advice[problem];
  return {
    name: texts.problems[problem],
    description: describeSite(context),
    main: html`<div class="problem"><h1>${texts.problems[problem]}</h1><p>${advice}</p></div>
    ${wait}
    ${renderWayOut(context)}`,
  };
}

function renderWayOut({ texts, others, basePath }: PageContext): Html | undefined {
  return others.length === 0 ? renderButton(`${basePath}/`, texts.backToStart) : undefined;
}

/** At its normal size, a long name would fill a small screen. */
function renderHeading(text: string): Html {
  const isLong = text.length > 48 || /\S{24}/.test(text);
  return html`<h1${isLong && new Html(' class="long"')}>${text}</h1>`;
}

function renderButton(url: string, text: string): Html {
  return html`<p class="button"><a href="${url}">${text}</a></p>`;
}

/** A link to the community's own page, which no kiosk has. */
function renderOwnPage(template: string | undefined, id: number, context: PageContext) {
  const { brand, baseUrl, texts } = context;
  if (template === undefined || brand.kiosk) return undefined;
  const { href } = new URL(template.replaceAll("{id}", String(id)), baseUrl);
  return renderButton(href, texts.fullProfile);
}

function renderCard(user: Face, detail: string | undefined, context: PageContext): Html {
  const row = renderRow(driverPath(user.id), user.name, detail, context);
  return html`<li class="card">${renderAvatar(user, context)}
      ${row}</li>`;
}

function renderAvatar(user: Face, { baseUrl }: PageContext): Html {
  return renderPicture("avatar", drawAvatar(user.id, user.name), pictureOf(user, baseUrl));
}

/** Leaves out a path, which may be that of a drawing. Few programs preview an SVG. */
function previewedAvatar(user: Face, { baseUrl }: PageContext): string | undefined {
  return user.avatar_url?.startsWith("/") ? undefined : pictureOf(user, baseUrl);
}

/** The URL of a user's own picture. A dataset may also name the drawing, which is none. */
function pictureOf({ id, avatar_url }: Face, baseUrl: string): string | undefined {
  const url = completeAvatar(id, avatar_url, baseUrl);
  return url === completeAvatar(id, null, baseUrl) ? undefined : url;
}

/** Until the picture at `url` has loaded, the drawing is visible, because `alt` is empty. */
function renderPicture(kind: "avatar" | "badge", drawing: string, url: string | undefined): Html {
  return html`<span class="${kind}" aria-hidden="true">${new Html(drawing)}${
    url && html`<img src="${url}" alt="" decoding="async">`
  }</span>`;
}
