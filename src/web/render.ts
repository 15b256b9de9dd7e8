/** Renders views as HTML, on the server and in the browser. All functions are pure. */
import type { AchievementEntry, User } from "../domain/model.ts";
import { type Html, html } from "./html.ts";
import { markMatches } from "./mark.ts";
import { type Language, languages, type Texts } from "./texts.ts";
import { type FoundDriver, MAX_FOUND, type View } from "./view.ts";

/**
 * The main part of the page. When the view changes, the page's script focuses the first heading.
 */
export function renderView(view: View, language: Language): Html {
  const texts = languages[language];
  switch (view.kind) {
    case "start":
      return renderStart(view, texts);
    case "results":
      return renderResults(view, texts, language);
    case "driver":
      return renderDriver(view, texts, language);
    case "problem":
      return renderProblem(view, texts);
  }
}

/** The title of the document, which ends with the community's name. */
export function titleOf(view: View, language: Language, title: string): string {
  return `${nameOf(view, languages[language])} · ${title}`;
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
      return texts.problems[view.problem].heading;
  }
}

function renderStart({ featured, counts }: View & { kind: "start" }, texts: Texts): Html {
  const cards = featured.map(
    (user) => html`<li class="card">
      ${avatarOf(user, 96)}
      <p>
        <a href="/drivers/${user.id}">${user.name}</a>
        <span>${user.company?.name}</span>
      </p>
    </li>`,
  );
  const count = counts && countsOf(counts.drivers, counts.companies, texts);
  return html`<h1 tabindex="-1">${texts.title}</h1>
    ${count && html`<p class="quiet counts">${count}</p>`}
    ${cards.length > 0 && html`<h2>${texts.featured}</h2><ul class="cards">${cards}</ul>`}`;
}

export function pointsOf(achievements: readonly AchievementEntry[]): number {
  return achievements.reduce((sum, { achievement }) => sum + achievement.points, 0);
}

export function countsOf(drivers: number, companies: number, texts: Texts): string {
  return `${texts.driverCount(drivers)}, ${texts.companyCount(companies)}`;
}

function renderResults(view: View & { kind: "results" }, texts: Texts, language: Language): Html {
  const { query, drivers, companies, searchesLeft, retryAfterSeconds = 0 } = view;
  const { heading, advice } = texts.problems.nothing;
  const isEmpty = drivers.length === 0 && companies?.length === 0;
  const count = [
    drivers.length < MAX_FOUND ? texts.driverCount(drivers.length) : texts.firstDrivers,
    companies &&
      (companies.length < MAX_FOUND ? texts.companyCount(companies.length) : texts.firstCompanies),
  ];
  return html`<h1 tabindex="-1">${texts.resultsFor(query)}</h1>
    <p class="quiet" role="status">${count.filter(Boolean).join(", ")}${
      searchesLeft !== undefined && ` · ${texts.searchesLeft(searchesLeft)}`
    }</p>
    ${
      isEmpty &&
      html`<div class="problem"><h2>${heading}</h2><p>${advice}</p></div>
      ${renderButtons(false, texts)}`
    }
    ${
      !isEmpty &&
      html`<div class="boards">
      <section><h2>${texts.drivers}</h2>
        ${drivers.length === 0 && html`<p>${texts.noDrivers}</p>`}
        <ul class="board">${drivers.map(
          (user) => html`<li>
          ${avatarOf(user, 44)}
          <a href="/drivers/${user.id}">${markMatches(user.name, query)}</a>
          <span class="detail">${detailOf(user, texts, language)}</span></li>`,
        )}</ul>
      </section>
      <section><h2>${texts.companies}</h2>
        ${!companies && html`<p>${texts.limitedCompanies}</p>`}
        ${!companies && renderWait(retryAfterSeconds, texts)}
        ${companies?.length === 0 && html`<p>${texts.noCompanies}</p>`}
        <ul class="board">${companies?.map(
          ({ name, member_count }) => html`<li>
          <span class="name" data-members="${member_count}">${markMatches(name, query)}</span>
          <span class="detail">${texts.members(member_count)}</span></li>`,
        )}</ul>
      </section>
    </div>`
    }`;
}

function renderDriver(view: View & { kind: "driver" }, texts: Texts, language: Language): Html {
  const { user, achievements } = view;
  const roles = user.roles.map(({ name }) => name).join(", ");
  return html`<article>
    <header class="sign">
      ${avatarOf(user, 128)}
      <div>
        <h1 tabindex="-1">${user.name}</h1>
        ${user.company && html`<p>${user.company.name}, ${user.company.role}</p>`}
      </div>
    </header>
    <dl class="facts">
      ${renderFact(texts.memberSince, dateIn(language, user.created_at))}
      ${renderFact(texts.achievements, achievements.length.toLocaleString(language))}
      ${renderFact(texts.totalPoints, pointsOf(achievements).toLocaleString(language))}
      ${roles && renderFact(texts.roles, roles)}
    </dl>
    <h2>${texts.achievements}</h2>
    ${achievements.length === 0 && html`<p>${texts.noAchievements}</p>`}
    <ul class="badges">${achievements.map((entry) =>
      renderAchievement(entry, texts, language),
    )}</ul>
  </article>`;
}

function renderFact(name: string, value: string): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function renderAchievement(entry: AchievementEntry, texts: Texts, language: Language): Html {
  const { achievement, tier, unlocked_at } = entry;
  const { name, description, icon, points } = achievement;
  return html`<li>
    <img src="/icons/${encodeURIComponent(icon)}" alt="" width="56" height="56"
      loading="lazy" decoding="async">
    <div>
      <h3>${name}</h3>
      <p>${description}</p>
      <p class="quiet">${texts.tier(tier)} · ${texts.points(points)} ·
        <time datetime="${unlocked_at}">${dateIn(language, unlocked_at)}</time></p>
    </div>
  </li>`;
}

function renderProblem(view: View & { kind: "problem" }, texts: Texts): Html {
  const { problem, retryAfterSeconds = 0 } = view;
  const canRetry = problem === "offline" || problem === "broken";
  const { heading, advice } = texts.problems[problem];
  return html`<div role="alert">
      <div class="problem"><h1 tabindex="-1">${heading}</h1><p>${advice}</p></div>
    </div>
    ${problem === "limited" && renderWait(retryAfterSeconds, texts)}
    ${renderButtons(canRetry, texts)}`;
}

/** The time until the next search. The page's script counts down, then shows the hidden button. */
function renderWait(seconds: number, texts: Texts): Html {
  return html`<p class="wait" role="timer" data-seconds="${seconds}">${waitOf(seconds, texts)}</p>
    <p class="buttons" hidden>${renderRetry(texts)}</p>`;
}

/** The remaining time as text, such as “Next search in 59:05.” */
export function waitOf(seconds: number, texts: Texts): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [first = 0, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return texts.wait([first, ...rest.map((part) => String(part).padStart(2, "0"))].join(":"));
}

/** Renders the links for a view that has nothing else to show. */
function renderButtons(canRetry: boolean, texts: Texts): Html {
  return html`<p class="buttons">${canRetry && renderRetry(texts)}
    <a class="button" href="/">${texts.otherDrivers}</a></p>`;
}

function renderRetry(texts: Texts): Html {
  return html`<a class="button" href="" data-retry>${texts.tryAgain}</a>`;
}

/** The company, plus the join date if another driver has the same name and company. */
function detailOf({ company, created_at }: FoundDriver, texts: Texts, language: Language): Html {
  const joined = created_at && `${texts.memberSince} ${dateIn(language, created_at)}`;
  return html`${company}${company && joined && html`<br>`}${joined}`;
}

/** The alternative text is empty because the name is next to the picture. */
function avatarOf({ id, avatar_url }: Pick<User, "id" | "avatar_url">, size: number): Html {
  return html`<img class="avatar" src="${avatar_url}" data-id="${id}" alt=""
    width="${size}" height="${size}" decoding="async">`;
}

/** The date in UTC, so that the server and the browser render the same date. */
export function dateIn(language: Language, time: string): string {
  return new Date(time).toLocaleDateString(language, { dateStyle: "long", timeZone: "UTC" });
}
