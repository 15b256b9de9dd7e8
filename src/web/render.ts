/** The views as HTML: the same functions on the server and in the browser. Pure. */
import type { AchievementEntry } from "../domain/achievement.ts";
import type { User } from "../domain/user.ts";
import { type Html, html } from "./html.ts";
import { markMatches } from "./mark.ts";
import { type Language, languages, type Texts } from "./texts.ts";
import { type FoundDriver, MAX_FOUND, type View } from "./view.ts";

/** The main part of the page. Its first heading takes the focus when it replaces another. */
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

/** The title of the document, in which the community's is the end. */
export function titleOf(view: View, language: Language, title: string): string {
  return `${nameOf(view, languages[language])} · ${title}`;
}

/** What a view is of. */
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
  return html`<h1 tabindex="-1">${texts.title}</h1>
    ${counts && html`<p class="quiet counts">${countsOf(counts.drivers, counts.companies, texts)}</p>`}
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
  const isEmpty = drivers.length === 0 && companies?.length === 0;
  const count = [
    drivers.length < MAX_FOUND ? texts.driverCount(drivers.length) : texts.closestDrivers,
    companies &&
      (companies.length < MAX_FOUND
        ? texts.companyCount(companies.length)
        : texts.closestCompanies),
  ];
  return html`<h1 tabindex="-1">${texts.resultsFor(query)}</h1>
    <p class="quiet" role="status">${count.filter(Boolean).join(", ")}${
      searchesLeft !== undefined && ` · ${texts.searchesLeft(searchesLeft)}`
    }</p>
    ${
      isEmpty &&
      html`<div class="problem"><h2>${texts.problems.nothing.heading}</h2><p>${texts.problems.nothing.advice}</p></div>
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
        ${!companies && html`<p>${texts.limitedCompanies}</p>${renderWait(retryAfterSeconds, texts)}`}
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
  const points = pointsOf(achievements);
  return html`<article>
    <header class="sign">
      ${avatarOf(user, 128)}
      <div>
        <h1 tabindex="-1">${user.name}</h1>
        ${user.company && html`<p>${user.company.name}, ${user.company.role}</p>`}
      </div>
    </header>
    <dl class="facts">
      <div><dt>${texts.memberSince}</dt><dd>${dateIn(language, user.created_at)}</dd></div>
      <div><dt>${texts.achievements}</dt><dd>${achievements.length.toLocaleString(language)}</dd></div>
      <div><dt>${texts.totalPoints}</dt><dd>${points.toLocaleString(language)}</dd></div>
      ${
        user.roles.length > 0 &&
        html`<div><dt>${texts.roles}</dt><dd>${user.roles.map(({ name }) => name).join(", ")}</dd></div>`
      }
    </dl>
    <h2>${texts.achievements}</h2>
    ${achievements.length === 0 && html`<p>${texts.noAchievements}</p>`}
    <ul class="badges">${achievements.map((entry) => renderAchievement(entry, texts, language))}</ul>
  </article>`;
}

function renderAchievement(entry: AchievementEntry, texts: Texts, language: Language): Html {
  const { achievement, tier, unlocked_at } = entry;
  const { name, description, icon, points } = achievement;
  return html`<li>
    <img src="/icons/${encodeURIComponent(icon)}" alt="" width="56" height="56" loading="lazy" decoding="async">
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
  return html`<div role="alert"><div class="problem"><h1 tabindex="-1">${heading}</h1><p>${advice}</p></div>
    </div>
    ${problem === "limited" && renderWait(retryAfterSeconds, texts)}
    ${renderButtons(canRetry, texts)}`;
}

/** How long until the next search. The browser counts it down, and then offers to try again. */
function renderWait(seconds: number, texts: Texts): Html {
  return html`<p class="wait" role="timer" data-seconds="${seconds}">${waitOf(seconds, texts)}</p>
    <p class="buttons" hidden>${renderRetry(texts)}</p>`;
}

/** Such as “Search again in 59:05.” */
export function waitOf(seconds: number, texts: Texts): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [first = 0, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return texts.wait([first, ...rest.map((part) => String(part).padStart(2, "0"))].join(":"));
}

/** A way on from where nothing is shown. */
function renderButtons(canRetry: boolean, texts: Texts): Html {
  return html`<p class="buttons">${canRetry && renderRetry(texts)}
    <a class="button" href="/">${texts.otherDrivers}</a></p>`;
}

function renderRetry(texts: Texts): Html {
  return html`<a class="button" href="" data-retry>${texts.tryAgain}</a>`;
}

/** What tells drivers of the same name apart. */
function detailOf({ company, created_at }: FoundDriver, texts: Texts, language: Language): Html {
  const joined = created_at && `${texts.memberSince} ${dateIn(language, created_at)}`;
  return html`${company}${company && joined && html`<br>`}${joined}`;
}

/** The name stands beside it, so the picture has none of its own. */
function avatarOf({ id, avatar_url }: Pick<User, "id" | "avatar_url">, size: number): Html {
  return html`<img class="avatar" src="${avatar_url}" data-id="${id}" alt="" width="${size}" height="${size}" decoding="async">`;
}

/** In UTC, as the API has it: the server and the browser write the same date. */
export function dateIn(language: Language, time: string): string {
  return new Date(time).toLocaleDateString(language, { dateStyle: "long", timeZone: "UTC" });
}
