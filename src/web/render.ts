/** Renders the views of pages as HTML. All functions are pure. */
import type { Forms } from "../domain/languages.ts";
import { type AchievementEntry, MAX_RESULTS } from "../domain/model.ts";
import { fold } from "../search/fold.ts";
import { DEFAULT_TITLE } from "./brand.ts";
import { drawBadge } from "./drawings.ts";
import { type Html, html } from "./html.ts";
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
import {
  linkTo,
  type PageContext,
  pictureOf,
  renderAvatar,
  renderButton,
  renderCard,
  renderHeading,
  renderPicture,
  renderRow,
  tellApart,
} from "./parts.ts";
import { clockOf, fill } from "./texts.ts";

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
/** More on a page of all would delay other requests. */
const ACHIEVEMENTS_PER_PAGE = 100;

export function renderView(view: View, context: PageContext): Rendered {
  if (view.kind === "start") return renderStart(view, context);
  if (view.kind === "results") return renderResults(view, context);
  if (view.kind === "company") return renderCompany(view, context);
  return view.kind === "driver" ? renderDriver(view, context) : renderProblem(view, context);
}

function renderStart(view: StartView, context: PageContext): Rendered {
  const { drivers, after, next } = view;
  const { brand, texts, formatPlural, meta, basePath } = context;
  const hasDrivers = meta.counts.public_users > 0;
  const counts = [
    hasDrivers && formatPlural(meta.counts.public_users, texts.driverCount),
    meta.counts.companies > 0 && formatPlural(meta.counts.companies, texts.companyCount),
  ];
  const found = counts.filter(Boolean).join(", ");
  const heading =
    brand.title === DEFAULT_TITLE ? texts.title : fill(texts.driversOf, { title: brand.title });

  return {
    name: texts.title,
    description: found ? `${describeSite(context)} ${found}.` : describeSite(context),
    path: after > 0 ? `/?after=${after}` : "/",
    main: html`<h1>${heading}</h1>
    <p class="counts">${hasDrivers ? found : texts.nobodyPublic}</p>
    ${drivers.length > 0 && renderFeatured(drivers, context)}
    ${next && renderButton(`${basePath}/?after=${next}`, texts.more)}
    ${view.needsScriptHint && html`<p class="hint">${texts.scriptHint}</p>`}`,
  };
}

function renderFeatured(drivers: StartView["drivers"], context: PageContext): Html {
  const { texts, brand, meta } = context;
  const { featured } = brand;
  // Without achievements, no driver stands out unless the operator has chosen some.
  const standOut = featured === undefined ? meta.counts.achievements > 0 : featured !== "all";
  const detailOf = tellApart(drivers, ({ company }) => company?.name, context);
  const cards = drivers.map((user) => renderCard(user, detailOf(user), context));
  return html`<h2>${standOut ? texts.featured : texts.drivers}</h2><ul class="cards">${cards}</ul>`;
}

/** Without achievements in the data, no page speaks of them. */
function describeSite({ texts, meta }: PageContext): string {
  return meta.counts.achievements > 0 ? texts.description : texts.whatIsFound;
}

function renderResults(view: ResultsView, context: PageContext): Rendered {
  const { query, drivers, companies } = view;
  const { texts, formatPlural, basePath } = context;
  const countOf = ({ length }: object[], forms: Forms, first: string) => {
    if (length === 0) return [];
    return length < MAX_RESULTS ? formatPlural(length, forms) : fill(first, { count: MAX_RESULTS });
  };
  const counts = [
    countOf(drivers, texts.driverCount, texts.firstDrivers),
    countOf(companies, texts.companyCount, texts.firstCompanies),
  ];
  const found = counts.flat().join(", ");

  const rows = renderFound(view, context);
  const similar = view.similar && renderFound(view.similar, context);
  const boards = [
    { heading: texts.drivers, rows: rows.drivers },
    { heading: texts.companies, rows: rows.companies },
    { heading: texts.didYouMean, rows: similar ? [...similar.drivers, ...similar.companies] : [] },
  ].filter(({ rows }) => rows.length > 0);
  // On a phone, a company of exactly this name would otherwise be below ten drivers.
  if (companies.some(({ name }) => fold(name) === fold(query))) boards.reverse();

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
    ${boards.map(({ heading, rows }) =>
      renderBoard(heading, rows, rows.length === MAX_RESULTS && texts.moreResults),
    )}
    ${found === "" && renderButton(`${basePath}/`, texts.backToStart)}`,
  };
}

function renderFound({ drivers, companies }: Found, context: PageContext) {
  const { texts, formatPlural } = context;
  const detailOf = tellApart(drivers, ({ company }) => company, context);
  return {
    drivers: drivers.map((driver) => {
      const row = renderRow(driverPath(driver.id), driver.name, detailOf(driver), context);
      return html`${renderAvatar(driver, context)}${row}`;
    }),
    companies: companies.map((company) => {
      const members = formatPlural(company.member_count, texts.members);
      return renderRow(companyPath(company.id), company.name, members, context);
    }),
  };
}

function renderBoard(heading: string, rows: Html[], note?: string | false): Html {
  return html`<section><h2>${heading}</h2>
      <ul class="board">${rows.map((row) => html`<li>${row}</li>`)}</ul>
      ${note && html`<p class="hint">${note}</p>`}</section>`;
}

function renderDriver(view: DriverView, context: PageContext): Rendered {
  const { user, achievements, allAfter } = view;
  const { texts, brand, formatPlural, formatDate, formatNumber } = context;
  const { id, name, company, roles, created_at } = user;
  const isCut = allAfter === undefined && achievements.length > MAX_ACHIEVEMENTS;
  const from = allAfter ?? 0;
  const to = from + (isCut ? NEWEST_ACHIEVEMENTS : ACHIEVEMENTS_PER_PAGE);
  const allPath = `${driverPath(id)}?achievements=all`;
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
    <ul class="badges">${achievements.slice(from, to).map((entry) => renderAchievement(entry, context))}</ul>
    ${isCut && renderButton(linkTo(allPath, context), fill(texts.allAchievements, { count: achievements.length }))}
    ${!isCut && to < achievements.length && renderButton(linkTo(`${allPath}&after=${to}`, context), texts.more)}
  </article>`,
  };
}

function renderCompany(view: CompanyView, context: PageContext): Rendered {
  const { company, drivers, publicMembers, after, next } = view;
  const { texts, brand } = context;
  const members = describeMembers(view, context);
  const path = companyPath(company.id);
  const cards = drivers.map((driver) => renderCard(driver, driver.company_role ?? "", context));

  return {
    name: company.name,
    description: `${members} · ${brand.title}`,
    path: after > 0 ? `${path}?after=${after}` : path,
    main: html`<header class="sign"><div>${renderHeading(company.name)}<p>${members}</p></div></header>
    ${renderOwnPage(brand.companyLink, company.id, context)}
    <h2>${texts.drivers}</h2>
    ${publicMembers === 0 && html`<p>${texts.nobodyThere}</p>`}
    <ul class="cards">${cards}</ul>
    ${next && renderButton(linkTo(`${path}?after=${next}`, context), texts.more)}`,
  };
}

/** The number of members is the platform's own, and may be lower than that of public ones. */
function describeMembers({ company, publicMembers }: CompanyView, context: PageContext): string {
  const { texts, formatPlural, formatNumber } = context;
  const members = formatPlural(company.member_count, texts.members);
  if (publicMembers === undefined || publicMembers >= company.member_count) return members;
  return fill(texts.publicMembers, { members, count: formatNumber(publicMembers) });
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

/** Returns undefined for an icon that is not below the base, such as none or one of another site. */
function resolveIcon(icon: string, icons: string): string | undefined {
  const base = new URL(icons.replace(/\/*$/, "/")).href;
  const url = URL.parse(icon, base)?.href;
  return url?.startsWith(base) && url !== base ? url : undefined;
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
  const { texts, basePath } = context;
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
    ${renderButton(`${basePath}/`, texts.backToStart)}`,
  };
}

/** A link to the community's own page, which no kiosk has. */
function renderOwnPage(template: string | undefined, id: number, context: PageContext) {
  const { brand, baseUrl, texts } = context;
  if (template === undefined || brand.kiosk) return undefined;
  const { href } = new URL(template.replaceAll("{id}", String(id)), baseUrl);
  return renderButton(href, texts.fullProfile);
}

/** Leaves out a path, which may be that of a drawing. Few programs preview an SVG. */
function previewedAvatar(user: Face, { baseUrl }: PageContext): string | undefined {
  return user.avatar_url?.startsWith("/") ? undefined : pictureOf(user, baseUrl);
}
