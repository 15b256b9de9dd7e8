/** The page's script: keyboard shortcuts, the countdown to the next search, and the kiosk. */
/// <reference lib="dom" />
import { clockOf } from "./languages.ts";

/** How long a kiosk highlights a driver, tries to load, says nothing of it, and waits for a letter. */
const [HIGHLIGHT_MS, RETRY_MS, NOTICE_MS, TYPING_MS] = [8000, 10_000, 1000, 350];

const script = document.currentScript as HTMLScriptElement;
/** `idle` is --kiosk-idle in milliseconds, or empty if this is no kiosk. */
const { base = "", idle = "" } = script.dataset;
const timers: Record<string, ReturnType<typeof setTimeout>> = {};
let field: HTMLInputElement;

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const stops = [field, ...document.querySelectorAll<HTMLElement>(".board a")];
  const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  // Before anything has focus, ArrowDown moves to the first result.
  const next = step && stops[Math.max(stops.indexOf(target as HTMLElement), 0) + step];
  if (key === "/" && target !== field) field.select();
  else if (next) next.focus();
  else return;
  event.preventDefault();
});

enter();
if (idle !== "") runKiosk(Number(idle));

function enter(): void {
  field = document.querySelector("#q") as HTMLInputElement;
  clearInterval(timers.count);
  const wait = document.querySelector<HTMLElement>(".wait");
  if (!wait) return;
  // The wall clock, because other clocks may stop while the device sleeps.
  const until = Date.now() + 1000 * Number(wait.dataset.seconds);
  timers.count = setInterval(() => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    wait.textContent = (wait.dataset.text ?? "").replace("{time}", clockOf(left));
    wait.hidden = left === 0;
    wait.nextElementSibling?.toggleAttribute("hidden", left > 0);
  }, 1000);
}

/**
 * A kiosk does not navigate, because no script could return from a proxy's error page. It fetches
 * the next page, and shows it in place of this one once it is known to be complete and Roadbook's.
 */
function runKiosk(idleMs: number): void {
  /** The text in the field, which stays until the visitor leaves the search. */
  let typed: string | undefined = field.value;
  let isIdle = false;
  let turn = 0;
  let attempt: AbortController | undefined;

  function wait(name: string, ms: number, act: () => void): void {
    clearTimeout(timers[name]);
    timers[name] = setTimeout(act, ms);
  }

  /** Until the server sends the page, this one stays. */
  function go(url: string): void {
    attempt?.abort();
    attempt = new AbortController();
    wait("retry", RETRY_MS, () => go(url));
    wait("notice", NOTICE_MS, () =>
      document.querySelector(".moment")?.toggleAttribute("hidden", isIdle),
    );
    show(url, attempt.signal).catch(() => {});
  }

  async function show(url: string, signal: AbortSignal): Promise<void> {
    const headers = { accept: "text/html" };
    const response = await fetch(url, { signal, headers, cache: "no-cache" });
    const text = await response.text();
    const page = new DOMParser().parseFromString(text, "text/html");
    // The last element of a kiosk's page is missing from half a page, and from other servers' pages.
    const [style, next, end] = page.querySelectorAll("[rel=stylesheet], script[src], .moment");
    if (!style || !next || !end) return;
    if (next.getAttribute("src") !== script.getAttribute("src")) return takeOver(url, text);
    // The style sheet of this page stays until the other one has loaded.
    await new Promise((onload, onerror) =>
      document.head.append(Object.assign(style, { onload, onerror })),
    );
    if (signal.aborted) return;
    for (const each of document.querySelectorAll("[rel=stylesheet]"))
      if (each !== style) each.remove();
    for (const name of ["retry", "notice"]) clearTimeout(timers[name]);
    history.replaceState(null, "", url);
    document.title = page.title;
    document.documentElement.lang = page.documentElement.lang;
    document.body.replaceWith(page.body);
    scrollTo(0, 0);
    start();
  }

  /** Shows a page with another version of the script. This removes this script's listeners. */
  function takeOver(url: string, text: string): void {
    for (const name in timers) clearTimeout(timers[name]);
    history.replaceState(null, "", url);
    document.open();
    document.write(text);
    document.close();
  }

  function leave(url = `${base}/`): void {
    typed = undefined;
    clearTimeout(timers.search);
    go(url);
  }

  function setLanguage(language: string): void {
    // biome-ignore lint/suspicious/noDocumentCookie: The Cookie Store API needs HTTPS.
    document.cookie = `language=${language};path=/`;
  }

  function search(): void {
    clearTimeout(timers.search);
    if (field.value.trim() === "") leave();
    else go(`${base}/?${new URLSearchParams({ q: field.value })}`);
  }

  function onTyped(): void {
    typed = field.value;
    clearTimeout(timers.search);
    const text = typed.trim();
    if (text !== field.defaultValue.trim() && [...text].length !== 1)
      wait("search", TYPING_MS, search);
  }

  function waitForIdle(): void {
    isIdle = false;
    wait("idle", idleMs, () => {
      waitForIdle();
      isIdle = true;
      setLanguage("");
      leave();
    });
  }

  for (const type of ["contextmenu", "dragstart", "auxclick"])
    document.addEventListener(type, (event) => event.preventDefault());
  // Blocks shortcuts such as Ctrl+T. Browsers allow that only if started with --app.
  document.addEventListener("keydown", (event) => {
    const { ctrlKey, metaKey, altKey, key } = event;
    if (ctrlKey || metaKey || altKey || /^F\d/.test(key)) event.preventDefault();
  });
  for (const type of ["pointerdown", "keydown", "input", "wheel"])
    document.addEventListener(type, waitForIdle);
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element && event.target.closest("a, [type=button]");
    if (target instanceof HTMLButtonElement && target.lang) {
      setLanguage(target.lang);
      go(location.href);
    } else if (target instanceof HTMLButtonElement) {
      field.value = target.value ? field.value + target.value : field.value.slice(0, -1);
      onTyped();
    } else if (target instanceof HTMLAnchorElement && target.hash === "") {
      event.preventDefault();
      leave(target.href);
    }
  });
  // Keeps the focus in the field.
  document.addEventListener("mousedown", (event) => {
    if ((event.target as Element).closest(".keys")) event.preventDefault();
  });
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  document.addEventListener("input", onTyped);

  function start(): void {
    enter();
    // Letters typed while this page was loading.
    field.value = typed ?? field.defaultValue;
    onTyped();
    field.focus({ preventScroll: true });
    field.setSelectionRange(field.value.length, field.value.length);
    highlight();
  }

  function highlight(): void {
    wait("highlight", HIGHLIGHT_MS, highlight);
    if (!isIdle) return;
    const cards = document.querySelectorAll(".card");
    for (const card of cards) card.classList.remove("lit");
    cards[turn++ % cards.length]?.classList.add("lit");
  }

  start();
  waitForIdle();
  // Ends the script in the page's head.
  dispatchEvent(new Event("kiosk"));
  // The first page may lack its end or its style.
  if (!document.querySelector(".moment") || !document.styleSheets[0]) go(location.href);
}
