/**
 * The page in the browser: it shows the next view without a new document, goes back and forward, and
 * returns a kiosk to the start. It keeps nothing of a driver: who is shown again is asked for again,
 * and may have gone private. Without it, the form and the links do the same.
 */
/// <reference lib="dom" />
import { withBasePath } from "./html.ts";
import { renderView, titleOf } from "./render.ts";
import { DEFAULT_LANGUAGE, isLanguage } from "./texts.ts";
import { type Ask, type Found, loadView } from "./view.ts";

/** A kiosk returns to the start so long after the last touch. */
const IDLE_MS = 120_000;

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
let saving: ReturnType<typeof setTimeout> | undefined;
/** A kiosk whose history holds nothing but the start. */
let isFresh = false;
let isStartingOver = false;

const ask: Ask = (path) => fetch(base + path);
const askAgain: Ask = (path) => fetch(base + path, { cache: "no-cache" });

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
  void navigate(`${base}/${query && `?${new URLSearchParams({ q: query })}`}`);
});

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
  addEventListener("contextmenu", (event) => event.preventDefault());
  let idle: ReturnType<typeof setTimeout> | undefined;
  const wait = () => {
    clearTimeout(idle);
    idle = setTimeout(() => {
      wait();
      if (!isFresh || field.value !== "") startOver();
    }, IDLE_MS);
  };
  for (const type of ["pointerdown", "keydown", "scroll"]) addEventListener(type, wait);
  wait();
}

/** Shows the view of an address as a new entry. */
function navigate(address: string): Promise<void> {
  saveEntry();
  return show(address, ask, {
    enter() {
      clearTimeout(saving);
      isFresh = false;
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
  void showAgain().then(() => {
    // Where the server is away, it is tried again.
    isFresh = !main.querySelector("[role=alert]");
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
  const { pathname, searchParams } = new URL(address, location.origin);
  const query = searchParams.get("q") ?? "";
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
  keepFound();
  scrollTo(0, y);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

/** Keeps what a search has found, if results are shown: by the server, or by this script. */
function keepFound(): void {
  if (!main.querySelector("[role=status]")) return;
  const drivers = [...main.querySelectorAll<HTMLAnchorElement>("a[href*='/drivers/']")];
  const companies = [...main.querySelectorAll<HTMLElement>("[data-members]")];
  searched.set(addressNow(), {
    driverIds: drivers.map(({ pathname }) => Number(pathOf(pathname).slice("/drivers/".length))),
    companies: companies.map(({ textContent, dataset }) => ({
      id: 0,
      name: textContent ?? "",
      member_count: Number(dataset.members),
    })),
  });
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
