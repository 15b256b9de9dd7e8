/**
 * The page in the browser: it shows the next view without a new document, goes back and forward, and
 * returns a kiosk to the start. It keeps nothing of a driver: who is shown again is asked for again,
 * and may have gone private. Without it, the form and the links do the same.
 */
/// <reference lib="dom" />
import { withBasePath } from "./html.ts";
import { renderView, titleOf, waitOf } from "./render.ts";
import { DEFAULT_LANGUAGE, isLanguage, languages } from "./texts.ts";
import { type Ask, type Found, loadView } from "./view.ts";

/** A kiosk at whose start nobody is presents the next driver so often. */
const PRESENTED_MS = 8000;

/** A kiosk that could not return to the start tries again so much later. */
const RETRY_MS = 10_000;

/** A request that takes longer has failed. */
const TIMEOUT_MS = 30_000;

/** Browsers forget entries from 50 on; a kiosk must find its first one. */
const MAX_KIOSK_ENTRIES = 20;

const SCROLL_SAVED_AFTER_MS = 100;

/** What the history keeps of an entry beside its address. */
interface Entry {
  /** How many entries of this page come before it. */
  index: number;
  /** How far it was scrolled. */
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

/** Of each results page that was shown, by address: going back spends no search. */
const searched = new Map<string, Found>();
let navigations = 0;
let index = 0;
/** The query whose results are shown or under way; empty when there are none. */
let searching = "";
/** When the last view came. It goes on while the machine sleeps, as the limit's window does. */
let shownAt = Date.now();
let saving: ReturnType<typeof setTimeout> | undefined;
let isStartingOver = false;
/** A kiosk that nobody has touched since it returned to the start. */
let isQuiet = false;
let idle: ReturnType<typeof setTimeout> | undefined;
/** How many drivers the quiet start has presented. */
let presented = 0;

const fetchPath = (path: string, options: RequestInit) =>
  fetch(base + path, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) });
const ask: Ask = (path) => fetchPath(path, {});
const askAgain: Ask = (path) => fetchPath(path, { cache: "no-cache" });

// The browser would scroll before the view is there.
history.scrollRestoration = "manual";
const { index: lastIndex = 0, y = 0 }: Partial<Entry> = history.state ?? {};
index = lastIndex;
saveEntry(y);
keepFound();
if (y > 0) scrollTo(0, y);
// A document that the browser had kept may show somebody who has gone private since.
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
  const address = `${base}/${query && `?${new URLSearchParams({ q: query })}`}`;
  if (query !== "" && query === searching) main.querySelector("h1")?.focus();
  else if (address === addressNow()) void show(address, ask);
  else void navigate(address);
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = target === field;
  const stops = [field, ...main.querySelectorAll<HTMLElement>(".board a")];
  const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  // From the heading, which has the focus of new results, the first one is next.
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

// An avatar that cannot be loaded is drawn. Some have failed before this script ran.
addEventListener("error", ({ target }) => drawInstead(target), true);
for (const image of document.images) {
  if (image.complete && image.naturalWidth === 0) drawInstead(image);
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
  if ("retry" in link.dataset) void show(addressNow(), ask);
  else void navigate(pathname + search);
});

addEventListener("scroll", () => {
  clearTimeout(saving);
  saving = setTimeout(saveEntry, SCROLL_SAVED_AFTER_MS);
});

addEventListener("popstate", ({ state }: { state: Partial<Entry> | null }) => {
  clearTimeout(saving);
  if (state) {
    index = state.index ?? 0;
    if (isStartingOver) startOver();
    else void showAgain(state.y);
  } else {
    // A jump inside the view, such as to the content, is a new entry.
    index++;
    saveEntry();
  }
});

if (isKiosk) {
  for (const type of ["contextmenu", "dragstart"]) {
    addEventListener(type, (event) => event.preventDefault());
  }
  for (const type of ["pointerdown", "keydown", "input", "wheel"]) {
    addEventListener(type, () => {
      isQuiet = false;
      waitForIdle();
    });
  }
  waitForIdle();
  setInterval(() => {
    presented++;
    present();
  }, PRESENTED_MS);
}

/** After the idle time, returns a kiosk to the start, or looks what has changed there. */
function waitForIdle(afterMs = Number(script.dataset.idle)): void {
  clearTimeout(idle);
  idle = setTimeout(() => {
    waitForIdle();
    if (isQuiet) void refreshStart();
    else startOver();
  }, afterMs);
}

/**
 * Shows the start as it is now, and a new document when the page itself is another one: of a newer
 * Roadbook, or with other featured drivers. What is shown stays while the server is away.
 */
async function refreshStart(): Promise<void> {
  try {
    const response = await askAgain("/");
    const start = new DOMParser().parseFromString(await response.text(), "text/html");
    const startMain = start.querySelector("main");
    if (!response.ok || !startMain || !isQuiet) return;
    if (partsOf(start) !== partsOf(document)) location.reload();
    main.innerHTML = startMain.innerHTML;
    present();
  } catch {
    // It is tried again after the next idle time.
  }
}

/** The script with its settings, and the style. */
function partsOf(page: Document): string {
  return [...page.querySelectorAll("script, link[rel=stylesheet]")]
    .map(({ outerHTML }) => outerHTML)
    .join();
}

/** On the quiet start, one featured driver after the other is large. */
function present(): void {
  if (!isQuiet) return;
  const cards = main.querySelectorAll(".card");
  cards.forEach((card, at) => {
    card.classList.toggle("sign", at === presented % cards.length);
  });
}

/** Shows the view of an address as a new entry. */
function navigate(address: string): Promise<void> {
  saveEntry();
  return show(address, ask, {
    enter() {
      clearTimeout(saving);
      if (!isKiosk || index < MAX_KIOSK_ENTRIES) {
        index++;
        history.pushState({ index, y: 0 } satisfies Entry, "", address);
      } else history.replaceState({ index, y: 0 } satisfies Entry, "", address);
    },
  });
}

/** Shows the view of the entry that the browser has gone to, and until then nothing. */
function showAgain(y?: number): Promise<void> {
  main.replaceChildren();
  return show(addressNow(), askAgain, { y, known: searched.get(addressNow()) });
}

/**
 * Goes to the first entry and, called again when it is there, makes it the start. A second entry takes
 * the place of all that followed, so that neither back nor forward leads to what others have seen.
 */
function startOver(): void {
  if (index > 0 && !isStartingOver) {
    isStartingOver = true;
    history.go(-index);
    return;
  }
  isStartingOver = false;
  searched.clear();
  history.replaceState({ index: 0, y: 0 } satisfies Entry, "", `${base}/`);
  index = 1;
  history.pushState({ index, y: 0 } satisfies Entry, "", `${base}/`);
  const navigation = navigations + 1;
  void showAgain().then(() => {
    // A visitor may have gone on.
    if (navigation !== navigations) return;
    isQuiet = !main.querySelector("[role=alert]");
    present();
    // The server is away, perhaps for a restart.
    if (!isQuiet) waitForIdle(RETRY_MS);
  });
}

/** Shows the view of an address; of several under way, the last one asked for. */
async function show(
  address: string,
  ask: Ask,
  {
    y = 0,
    known,
    enter,
  }: { y?: number | undefined; known?: Found | undefined; enter?(): void } = {},
): Promise<void> {
  const navigation = ++navigations;
  isQuiet = false;
  const { pathname, searchParams } = new URL(address, location.origin);
  const query = searchParams.get("q") ?? "";
  searching = query.trim();
  main.setAttribute("aria-busy", "true");
  const view = await loadView({ path: pathOf(pathname), query }, featuredIds, ask, known);
  if (navigation !== navigations) return;
  enter?.();
  main.removeAttribute("aria-busy");
  main.innerHTML = withBasePath(renderView(view, language).text, base);
  // It is of the document that was loaded, and would be what a phone shares.
  document.querySelector("link[rel=canonical]")?.remove();
  document.title = titleOf(view, language, script.dataset.title ?? "");
  if (view.kind !== "driver") field.value = query;
  shownAt = Date.now();
  keepFound();
  scrollTo(0, y);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

/** Keeps what a search has found, if results are shown: by the server, or by this script. */
function keepFound(): void {
  const { searchParams } = new URL(location.href);
  const hasResults = main.querySelector("[role=status]") !== null;
  searching = hasResults ? (searchParams.get("q") ?? "").trim() : "";
  if (!hasResults) return;
  const drivers = [...main.querySelectorAll<HTMLAnchorElement>("a[href*='/drivers/']")];
  const companies = [...main.querySelectorAll<HTMLElement>("[data-members]")];
  const hasCompanies = !main.querySelector(".wait");
  searched.set(addressNow(), {
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

/** Says how long the limit has the reader wait, and then offers to try again. */
function countDown(): void {
  const wait = main.querySelector<HTMLElement>(".wait");
  if (!wait || wait.hidden) return;
  const passed = Math.floor((Date.now() - shownAt) / 1000);
  const left = Number(wait.dataset.seconds) - passed;
  wait.textContent = waitOf(Math.max(left, 0), languages[language]);
  wait.hidden = left <= 0;
  wait.nextElementSibling?.toggleAttribute("hidden", left > 0);
}

function drawInstead(image: EventTarget | null): void {
  if (!(image instanceof HTMLImageElement) || !image.dataset.id) return;
  image.src = `${base}/avatars/${image.dataset.id}.svg`;
  // Once.
  delete image.dataset.id;
}

function saveEntry(y = scrollY): void {
  history.replaceState({ index, y } satisfies Entry, "");
}

/** The path as the server has it; the start may have no slash where it is mounted. */
function pathOf(pathname: string): string {
  return (pathname.startsWith(base) ? pathname.slice(base.length) : pathname) || "/";
}

function addressNow(): string {
  return location.pathname + location.search;
}

function find<Kind extends Element>(selector: string, kind: new () => Kind): Kind {
  const found = document.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${selector}`);
}
