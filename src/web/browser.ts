/**
 * The page's script: it switches views without loading a new document, handles back and forward,
 * and returns a kiosk to the start page. Drivers are never cached, because a profile may become
 * private. Without the script, the form and the links still work.
 */
/// <reference lib="dom" />
import { withBasePath } from "./html.ts";
import { renderView, titleOf, waitOf } from "./render.ts";
import { DEFAULT_LANGUAGE, isLanguage, languages } from "./texts.ts";
import { type FetchApi, type KnownResults, loadView } from "./view.ts";

/** How long an unattended kiosk highlights each featured driver. */
const HIGHLIGHT_MS = 8000;

/** How long a kiosk waits before it retries loading the start page. */
const RETRY_MS = 10_000;

/** How long to wait for a response. */
const TIMEOUT_MS = 30_000;

/**
 * Browsers keep about 50 history entries, and a kiosk must be able to return to the first entry.
 */
const MAX_KIOSK_ENTRIES = 20;

const SCROLL_SAVE_DELAY_MS = 100;

/** The state stored with a history entry. */
interface Entry {
  /** How many entries of this page come before this entry. */
  index: number;
  /** The scroll position. */
  y: number;
}

const root = document.documentElement;
const isKiosk = root.classList.contains("kiosk");
const language = isLanguage(root.lang) ? root.lang : DEFAULT_LANGUAGE;
const main = find("main", HTMLElement);
const field = find("#q", HTMLInputElement);
const script = find("script[data-featured]", HTMLScriptElement);
/** The path under which the server is mounted. */
const base = script.dataset.base ?? "";
const featuredIds = (script.dataset.featured ?? "").split(" ").filter(Boolean).map(Number);

/** The results shown so far, by URL, so that going back does not use up another search. */
const shownResults = new Map<string, KnownResults>();
let navigations = 0;
let entryIndex = 0;
/** The query whose results are shown or loading; empty if there are none. */
let currentQuery = "";
/**
 * The wall-clock time at which the view was shown. Other clocks may stop while the device sleeps,
 * but the limit's window does not.
 */
let shownAt = Date.now();
let saveTimer: ReturnType<typeof setTimeout> | undefined;
let isStartingOver = false;
/** Whether this is a kiosk that nobody has used since it returned to the start page. */
let isUnattended = false;
let idleTimer: ReturnType<typeof setTimeout> | undefined;
/** How many drivers the unattended start page has highlighted. */
let highlighted = 0;

const fetchPath = (path: string, options: RequestInit) =>
  fetch(base + path, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) });
const fetchApi: FetchApi = (path) => fetchPath(path, {});
const revalidate: FetchApi = (path) => fetchPath(path, { cache: "no-cache" });

// Otherwise, the browser would restore the scroll position before the view has loaded.
history.scrollRestoration = "manual";
const { index: lastIndex = 0, y = 0 }: Partial<Entry> = history.state ?? {};
entryIndex = lastIndex;
saveEntry(y);
rememberResults();
if (y > 0) scrollTo(0, y);
// A document from the browser's cache may show a driver who has since become private.
const [navigation] = performance.getEntriesByType("navigation");
if (navigation instanceof PerformanceNavigationTiming && navigation.type === "back_forward") {
  void showAgain(y);
}
window.addEventListener("pageshow", (event) => {
  if (event.persisted) void showAgain(scrollY);
});

find("form", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  const query = field.value.trim();
  const url = `${base}/${query && `?${new URLSearchParams({ q: query })}`}`;
  if (query !== "" && query === currentQuery) main.querySelector("h1")?.focus();
  else if (url === currentUrl()) void show(url, fetchApi);
  else void navigate(url);
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = target === field;
  const stops = [field, ...main.querySelectorAll<HTMLElement>(".board a")];
  const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  // From the heading, which has focus after a search, ArrowDown moves to the first result.
  const at = target instanceof HTMLElement ? Math.max(stops.indexOf(target), 0) : 0;
  const next = step && stops[at + step];
  if (key === "/" && !isTyping) field.select();
  else if (key === "Escape") {
    if (isTyping) field.value = "";
    field.focus();
  } else if (next) next.focus();
  else return;
  event.preventDefault();
});

// Shows a drawing for each avatar that fails to load. Some may have failed before this script ran.
addEventListener("error", ({ target }) => replaceByDrawing(target), true);
for (const image of document.images) {
  if (image.complete && image.naturalWidth === 0) replaceByDrawing(image);
}

setInterval(countDown, 1000);

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey);
  if (!link || !isPlain || event.defaultPrevented) return;
  const { pathname, search, origin } = new URL(link.href);
  const path = pathOf(pathname);
  const isView = path === "/" || path.startsWith("/drivers/");
  if (origin !== location.origin || !isView || link.hash !== "") return;
  event.preventDefault();
  if ("retry" in link.dataset) void show(currentUrl(), fetchApi);
  else void navigate(pathname + search);
});

addEventListener("scroll", () => {
  clearTimeout(saveTimer);
  saveTimer = setTimeout(saveEntry, SCROLL_SAVE_DELAY_MS);
});

addEventListener("popstate", ({ state }: { state: Partial<Entry> | null }) => {
  clearTimeout(saveTimer);
  if (state) {
    entryIndex = state.index ?? 0;
    if (isStartingOver) startOver();
    else void showAgain(state.y);
  } else {
    // A jump within the view, for example with the skip link, has added a history entry.
    entryIndex++;
    saveEntry();
  }
});

if (isKiosk) {
  for (const type of ["contextmenu", "dragstart"]) {
    addEventListener(type, (event) => event.preventDefault());
  }
  for (const type of ["pointerdown", "keydown", "input", "wheel"]) {
    addEventListener(type, () => {
      isUnattended = false;
      restartIdleTimer();
    });
  }
  restartIdleTimer();
  setInterval(() => {
    highlighted++;
    highlightDriver();
  }, HIGHLIGHT_MS);
}

/** Restarts the idle timer, which returns the kiosk to the start page or refreshes that page. */
function restartIdleTimer(afterMs = Number(script.dataset.idle)): void {
  clearTimeout(idleTimer);
  idleTimer = setTimeout(() => {
    restartIdleTimer();
    if (isUnattended) void refreshStart();
    else startOver();
  }, afterMs);
}

/**
 * Refreshes the start page. Reloads the document if its script, style or settings have changed, as
 * they do when Roadbook is updated. If the server is unreachable, the current page stays.
 */
async function refreshStart(): Promise<void> {
  try {
    const response = await revalidate("/");
    const start = new DOMParser().parseFromString(await response.text(), "text/html");
    const startMain = start.querySelector("main");
    if (!response.ok || !startMain || !isUnattended) return;
    if (assetsOf(start) !== assetsOf(document)) location.reload();
    main.innerHTML = startMain.innerHTML;
    highlightDriver();
  } catch {
    // The next attempt comes after another idle period.
  }
}

/** The HTML of the script tag, which carries the settings, and of the style tag. */
function assetsOf(page: Document): string {
  return [...page.querySelectorAll("script, link[rel=stylesheet]")]
    .map(({ outerHTML }) => outerHTML)
    .join();
}

/** Enlarges one featured driver while the start page is unattended. */
function highlightDriver(): void {
  if (!isUnattended) return;
  const cards = main.querySelectorAll(".card");
  cards.forEach((card, index) => {
    card.classList.toggle("sign", index === highlighted % cards.length);
  });
}

/** Shows the view for a URL as a new history entry. */
function navigate(url: string): Promise<void> {
  saveEntry();
  return show(url, fetchApi, {
    onLoaded() {
      clearTimeout(saveTimer);
      const isNew = !isKiosk || entryIndex < MAX_KIOSK_ENTRIES;
      if (isNew) entryIndex++;
      putEntry(isNew, url);
    },
  });
}

/** Shows the current history entry after back or forward. Clears the old view immediately. */
function showAgain(y?: number): Promise<void> {
  main.replaceChildren();
  return show(currentUrl(), revalidate, { y, known: shownResults.get(currentUrl()) });
}

/**
 * Goes back to the first history entry. When called again on arrival, turns that entry into the
 * start page and pushes a second start page, which removes all later entries. After that, neither
 * back nor forward leads to an earlier visitor's views.
 */
function startOver(): void {
  if (entryIndex > 0 && !isStartingOver) {
    isStartingOver = true;
    history.go(-entryIndex);
    return;
  }
  isStartingOver = false;
  shownResults.clear();
  entryIndex = 0;
  putEntry(false, `${base}/`);
  entryIndex = 1;
  putEntry(true, `${base}/`);
  const navigation = navigations + 1;
  void showAgain().then(() => {
    // A visitor may have moved on in the meantime.
    if (navigation !== navigations) return;
    isUnattended = !main.querySelector("[role=alert]");
    highlightDriver();
    // Retries if the server is unreachable, perhaps because it is restarting.
    if (!isUnattended) restartIdleTimer(RETRY_MS);
  });
}

interface ShowOptions {
  y?: number | undefined;
  known?: KnownResults | undefined;
  onLoaded?(): void;
}

/** Shows the view for a URL, unless another view is requested while this one loads. */
async function show(
  url: string,
  fetcher: FetchApi,
  { y = 0, known, onLoaded }: ShowOptions = {},
): Promise<void> {
  const navigation = ++navigations;
  isUnattended = false;
  const { pathname, searchParams } = new URL(url, location.origin);
  const query = searchParams.get("q") ?? "";
  currentQuery = query.trim();
  main.setAttribute("aria-busy", "true");
  const view = await loadView({ path: pathOf(pathname), query }, featuredIds, fetcher, known);
  if (navigation !== navigations) return;
  onLoaded?.();
  main.removeAttribute("aria-busy");
  main.innerHTML = withBasePath(renderView(view, language).text, base);
  // Phones share the canonical link, but it still belongs to the first view.
  document.querySelector("link[rel=canonical]")?.remove();
  document.title = titleOf(view, language, script.dataset.title ?? "");
  if (view.kind !== "driver") field.value = query;
  shownAt = Date.now();
  rememberResults();
  scrollTo(0, y);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

/** Remembers the results on the page, if any, whether the server or this script rendered them. */
function rememberResults(): void {
  const { searchParams } = new URL(location.href);
  const hasResults = main.querySelector("[role=status]") !== null;
  currentQuery = hasResults ? (searchParams.get("q") ?? "").trim() : "";
  if (!hasResults) return;
  const drivers = [...main.querySelectorAll<HTMLAnchorElement>("a[href*='/drivers/']")];
  const companies = [...main.querySelectorAll<HTMLElement>("[data-members]")];
  const hasCompanies = !main.querySelector(".wait");
  shownResults.set(currentUrl(), {
    driverIds: drivers.map(({ pathname }) => Number(pathOf(pathname).slice("/drivers/".length))),
    companies: hasCompanies
      ? companies.map(({ textContent, dataset }) => ({
          id: 0,
          name: textContent ?? "",
          member_count: Number(dataset.members),
        }))
      : undefined,
  });
}

/** Counts down to the next search, then shows the button to try again. */
function countDown(): void {
  const wait = main.querySelector<HTMLElement>(".wait");
  if (!wait || wait.hidden) return;
  const passed = Math.floor((Date.now() - shownAt) / 1000);
  const left = Number(wait.dataset.seconds) - passed;
  wait.textContent = waitOf(Math.max(left, 0), languages[language]);
  wait.hidden = left <= 0;
  wait.nextElementSibling?.toggleAttribute("hidden", left > 0);
}

function replaceByDrawing(image: EventTarget | null): void {
  if (!(image instanceof HTMLImageElement) || !image.dataset.id) return;
  image.src = `${base}/avatars/${image.dataset.id}.svg`;
  // Replaces the image only once, in case the drawing fails to load too.
  delete image.dataset.id;
}

function saveEntry(y = scrollY): void {
  putEntry(false, location.href, y);
}

/** Adds a history entry, or replaces the current one. */
function putEntry(isNew: boolean, url: string, y = 0): void {
  const entry: Entry = { index: entryIndex, y };
  if (isNew) history.pushState(entry, "", url);
  else history.replaceState(entry, "", url);
}

/** Removes the base path. The base path alone means the start page, even with no final slash. */
function pathOf(pathname: string): string {
  return (pathname.startsWith(base) ? pathname.slice(base.length) : pathname) || "/";
}

function currentUrl(): string {
  return location.pathname + location.search;
}

function find<Kind extends Element>(selector: string, kind: new () => Kind): Kind {
  const found = document.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${selector}`);
}
