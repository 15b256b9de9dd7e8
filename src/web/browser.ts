/**
 * The page in the browser: it shows the next view without a new document, keeps what was shown for
 * back and forward, and returns a kiosk to the start. Without it, the form and the links do the same.
 */
/// <reference lib="dom" />
import { renderView, titleOf } from "./render.ts";
import { DEFAULT_LANGUAGE, isLanguage } from "./texts.ts";
import { loadView } from "./view.ts";

/** A kiosk returns to the start so long after the last touch. */
const IDLE_MS = 120_000;

/** What the history keeps of a page: going back asks the API for nothing. */
interface Shown {
  html: string;
  title: string;
  query: string;
}

const root = document.documentElement;
const language = isLanguage(root.lang) ? root.lang : DEFAULT_LANGUAGE;
const main = find("main", HTMLElement);
const field = find("#q", HTMLInputElement);
const script = find("script[data-featured]", HTMLScriptElement);
const featuredIds = (script.dataset.featured ?? "").split(" ").filter(Boolean).map(Number);
let navigations = 0;

history.replaceState(shownNow(), "");

find("form", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  const query = field.value.trim();
  void navigate(query === "" ? "/" : `/?${new URLSearchParams({ q: query })}`);
});

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey);
  if (!link || !isPlain || event.defaultPrevented) return;
  const { pathname, search, origin } = new URL(link.href);
  const isView = pathname === "/" || pathname.startsWith("/drivers/");
  if (origin !== location.origin || !isView || link.hash !== "") return;
  event.preventDefault();
  if ("retry" in link.dataset) void navigate(location.pathname + location.search, true);
  else void navigate(pathname + search);
});

window.addEventListener("popstate", (event) => {
  navigations++;
  const shown: Shown | null = event.state;
  if (shown) show(shown);
  else location.reload();
});

if (root.classList.contains("kiosk")) {
  addEventListener("contextmenu", (event) => event.preventDefault());
  let idle: ReturnType<typeof setTimeout> | undefined;
  const wait = () => {
    clearTimeout(idle);
    idle = setTimeout(() => {
      wait();
      if (location.pathname + location.search !== "/" || field.value !== "") void navigate("/");
    }, IDLE_MS);
  };
  for (const type of ["pointerdown", "keydown", "scroll"]) addEventListener(type, wait);
  wait();
}

/** Shows the view of an address; of several under way, the last one asked for. */
async function navigate(address: string, isSame = false): Promise<void> {
  const navigation = ++navigations;
  const { pathname, searchParams } = new URL(address, location.origin);
  const query = searchParams.get("q") ?? "";
  main.setAttribute("aria-busy", "true");
  const view = await loadView({ path: pathname, query }, featuredIds, (path) => fetch(path));
  if (navigation !== navigations) return;
  history.replaceState({ ...shownNow(), query: field.defaultValue }, "");
  const shown = {
    html: renderView(view, language).text,
    title: titleOf(view, language),
    query: view.kind === "driver" ? field.value : query,
  };
  if (isSame) history.replaceState(shown, "");
  else history.pushState(shown, "", address);
  show(shown);
  scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

function shownNow(): Shown {
  return { html: main.innerHTML, title: document.title, query: field.value };
}

function show(shown: Shown): void {
  main.removeAttribute("aria-busy");
  main.innerHTML = shown.html;
  document.title = shown.title;
  field.value = shown.query;
  field.defaultValue = shown.query;
}

function find<Kind extends Element>(selector: string, kind: new () => Kind): Kind {
  const found = document.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${selector}`);
}
