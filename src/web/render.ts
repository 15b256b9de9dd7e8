/** Renders views as HTML. All functions are pure. */
import { type AchievementEntry, completeAvatar, type User } from "../domain/model.ts";
import { fold } from "../search/fold.ts";
import { type Brand, DEFAULT_TITLE } from "./brand.ts";
import { drawAvatar, drawBadge } from "./drawings.ts";
import { Html, html } from "./html.ts";
import { markMatches } from "./mark.ts";
import { clockOf, dateIn } from "./plural.ts";
import { type Language, languages, type Texts } from "./texts.ts";
import {
  type DriverView,
  type FoundDriver,
  MAX_FOUND,
  type ProblemView,
  type ResultsView,
  type StartView,
  type View,
} from "./view.ts";

/** What rendering needs besides the data. */
export interface PageContext {
  brand: Brand;
  language: Language;
  /** The URL of the start page, without a trailing slash. */
  baseUrl: string;
}

/** How many achievements a driver's page shows at first. */
const NEWEST_ACHIEVEMENTS = 24;

/** The remaining searches are shown only if there are at most this many. */
const FEW_SEARCHES = 5;

/** The main part of the page. */
export function renderView(view: View, context: PageContext): Html {
  switch (view.kind) {
    case "start":
      return renderStart(view, context);
    case "results":
      return renderResults(view, context);
    case "driver":
      return renderDriver(view, context);
    case "problem":
      return renderProblem(view, languages[context.language]);
  }
}

/** The name of a view, such as the driver's name. */
export function nameOf(view: View, texts: Texts): string {
  switch (view.kind) {
    case "start":
      return texts.title;
    case "results":
      return texts.resultsFor(view.query);
    case "driver":
      return view.user.name;
    case "problem":
      return texts.problems[view.problem][0];
  }
}

/** The community's own page, as an absolute URL. Undefined if there is none, or in a kiosk. */
function ownUrl(
  template: string | undefined,
  id: number,
  { brand, baseUrl }: PageContext,
): string | undefined {
  if (template === undefined || brand.kiosk) return undefined;
  return new URL(template.replaceAll("{id}", String(id)), baseUrl).href;
}

function renderStart({ featured, counts }: StartView, context: PageContext): Html {
  const texts = languages[context.language];
  const { title } = context.brand;
  const cards = featured.map(
    (user) => html`<li class="card">
      ${renderAvatar(user, context)}
      <p>
        <a href="/drivers/${user.id}">${user.name}</a>
        <span>${user.company?.name}</span>
      </p>
    </li>`,
  );
  return html`<h1>${title === DEFAULT_TITLE ? texts.title : texts.driversOf(title)}</h1>
    <p class="counts">${countsOf(counts.drivers, counts.companies, texts)}</p>
    ${cards.length > 0 && html`<h2>${texts.featured}</h2><ul class="cards">${cards}</ul>`}`;
}

export function pointsOf(achievements: readonly AchievementEntry[]): number {
  return achievements.reduce((sum, { achievement }) => sum + achievement.points, 0);
}

export function countsOf(drivers: number, companies: number, texts: Texts): string {
  return `${texts.driverCount(drivers)}, ${texts.companyCount(companies)}`;
}

function renderResults(view: ResultsView, context: PageContext): Html {
  const { query, drivers, companies, searchesLeft = Number.POSITIVE_INFINITY } = view;
  const texts = languages[context.language];
  const [heading, advice] = texts.problems.nothing;
  const isEmpty = drivers.length === 0 && companies.length === 0;
  return html`<h1>${texts.resultsFor(query)}</h1>
    <p class="counts">${[
      drivers.length < MAX_FOUND ? texts.driverCount(drivers.length) : texts.firstDrivers,
      ", ",
      companies.length < MAX_FOUND ? texts.companyCount(companies.length) : texts.firstCompanies,
    ]}${
      searchesLeft <= FEW_SEARCHES &&
      html`<span class="left"> · ${texts.searchesLeft(searchesLeft)}</span>`
    }</p>
    ${
      isEmpty &&
      html`<div class="problem"><h2>${heading}</h2><p>${advice}</p></div>
      ${renderButtons(texts)}`
    }
    <div class="boards">
      ${renderBoard(
        texts.drivers,
        drivers.map((driver) => {
          const { name, spelling } = markMatches(driver.name, query);
          return html`${renderAvatar(driver, context)}
            <p><a href="/drivers/${driver.id}">${name}</a>
            <span>${[spelling, ...detailsOf(driver, context)].filter(Boolean).join(" · ")}</span></p>`;
        }),
      )}
      ${renderBoard(
        texts.companies,
        companies.map((company) => {
          const { name, spelling } = markMatches(company.name, query);
          const details = [spelling, texts.members(company.member_count)];
          // A company has no page here, but searching for its whole name may find related names.
          const search = `/?${new URLSearchParams({ q: company.name })}`;
          const isSearched = fold(company.name) === fold(query);
          const url =
            ownUrl(context.brand.companyLink, company.id, context) ?? (!isSearched && search);
          return html`<p>${url ? html`<a href="${url}">${name}</a>` : html`<b>${name}</b>`}
            <span>${details.filter(Boolean).join(" · ")}</span></p>`;
        }),
      )}
    </div>`;
}

function renderBoard(heading: string, rows: readonly Html[]): Html | false {
  return (
    rows.length > 0 &&
    html`<section><h2>${heading}</h2>
      <ul class="board">${rows.map((row) => html`<li>${row}</li>`)}</ul></section>`
  );
}

/** The company, and the join date if another driver has the same name and company. */
function detailsOf({ company, created_at }: FoundDriver, { language }: PageContext) {
  const since = created_at && `${languages[language].memberSince} ${dateIn(language, created_at)}`;
  return [company, since];
}

function renderDriver(view: DriverView, context: PageContext): Html {
  const { user, achievements, showsAll } = view;
  const { language, brand } = context;
  const texts = languages[language];
  const shown = showsAll ? achievements : achievements.slice(0, NEWEST_ACHIEVEMENTS);
  const groups = [...Map.groupBy(shown, ({ achievement }) => achievement.type)];
  const roles = user.roles.map(({ name }) => name).join(", ");
  const ownPage = ownUrl(brand.driverLink, user.id, context);
  return html`<article>
    <header class="sign">
      ${renderAvatar(user, context)}
      <div>
        <h1>${user.name}</h1>
        ${user.company && html`<p><bdi>${user.company.name}</bdi>, <bdi>${user.company.role}</bdi></p>`}
      </div>
    </header>
    <dl class="facts">
      ${renderFact(texts.memberSince, dateIn(language, user.created_at))}
      ${renderFact(texts.achievements, achievements.length.toLocaleString(language))}
      ${renderFact(texts.totalPoints, pointsOf(achievements).toLocaleString(language))}
      ${roles && renderFact(texts.roles, roles)}
    </dl>
    ${ownPage && html`<p class="buttons"><a class="button" href="${ownPage}">${texts.fullProfile}</a></p>`}
    <h2>${texts.achievements}</h2>
    ${achievements.length === 0 && html`<p>${texts.noAchievements}</p>`}
    ${groups.map(
      ([kind, entries]) => html`<section class="group"><h3>${kind}</h3>
      <ul class="badges">${entries.map((entry) => renderAchievement(entry, context))}</ul>
    </section>`,
    )}
    ${
      shown.length < achievements.length &&
      html`<p class="buttons"><a class="button" href="/drivers/${user.id}?achievements=all">${texts.allAchievements(
        achievements.length,
      )}</a></p>`
    }
  </article>`;
}

function renderFact(name: string, value: string): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

/** The ring of the drawing shows the tier that the driver has reached. */
function renderAchievement(entry: AchievementEntry, { language, brand }: PageContext): Html {
  const { achievement, tier, unlocked_at } = entry;
  const { name, description, icon, type, points } = achievement;
  const texts = languages[language];
  const tiers = achievement.tier > 1 && achievement.tier >= tier && achievement.tier;
  const picture = brand.icons ? URL.parse(icon, brand.icons.replace(/\/*$/, "/"))?.href : undefined;
  return html`<li>
    ${renderPicture("badge", drawBadge({ name, type, tier }, !picture), picture)}
    <div>
      <h4>${name}</h4>
      <p>${description}</p>
      <p class="quiet">${tiers ? texts.tierOf(tier, tiers) : texts.tier(tier)} · ${texts.points(points)} ·
        <time datetime="${unlocked_at}">${dateIn(language, unlocked_at)}</time></p>
    </div>
  </li>`;
}

function renderProblem({ problem, retryAfterSeconds = 0 }: ProblemView, texts: Texts): Html {
  const [heading, advice] = texts.problems[problem];
  return html`<div class="problem"><h1>${heading}</h1><p>${advice}</p></div>
    ${problem === "limited" && renderWait(retryAfterSeconds, texts)}
    ${renderButtons(texts)}`;
}

/** The time until the next search. The page's script counts down, then shows the hidden button. */
function renderWait(seconds: number, texts: Texts): Html {
  const text = texts.wait(clockOf(seconds));
  return html`<p class="wait" role="timer" data-seconds="${seconds}" data-text="${texts.wait("#")}">${text}</p>
    <p class="buttons" hidden><a class="button" href="">${texts.tryAgain}</a></p>`;
}

/** Renders the link for a view that has nothing else to show. */
function renderButtons(texts: Texts): Html {
  return html`<p class="buttons"><a class="button" href="/">${texts.otherDrivers}</a></p>`;
}

function renderAvatar(
  { id, name, avatar_url }: Pick<User, "id" | "name" | "avatar_url">,
  { baseUrl }: PageContext,
): Html {
  const url = avatar_url === completeAvatar(id, null, baseUrl) ? undefined : avatar_url;
  return renderPicture("avatar", drawAvatar(id, name), url);
}

/**
 * A drawing, which is in the page itself and so there from the first paint, and the picture at
 * `url` on top of it. Until a picture has loaded, and if that fails, it is transparent, because its
 * alternative text is empty and the style sheet gives it no fixed size.
 */
function renderPicture(kind: "avatar" | "badge", drawing: string, url: string | undefined): Html {
  return html`<span class="${kind}" aria-hidden="true">${new Html(drawing)}${
    url && html`<img src="${url}" alt="" decoding="async">`
  }</span>`;
}
