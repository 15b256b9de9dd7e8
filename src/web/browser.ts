/** The page's script: keyboard shortcuts, the countdown to the next search, and the kiosk. */
/// <reference lib="dom" />
import { clockOf } from "./texts.ts";

/** How long a kiosk highlights a driver, waits to try again, and waits for another letter. */
const [HIGHLIGHT_MS, RETRY_MS, TYPING_MS] = [8000, 10_000, 350];

const { base = "", idle = "" } = document.currentScript?.dataset ?? {};
const field = document.querySelector("#q") as HTMLInputElement;

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = target === field;
  const stops = [field, ...document.querySelectorAll<HTMLElement>(".board a")];
  const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  // Before anything has focus, ArrowDown moves to the first result.
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

const wait = document.querySelector<HTMLElement>(".wait");
if (wait) {
  // The wall clock, because other clocks may stop while the device sleeps.
  const until = Date.now() + 1000 * Number(wait.dataset.seconds);
  setInterval(() => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    wait.textContent = (wait.dataset.text ?? "").replace("{time}", clockOf(left));
    wait.hidden = left === 0;
    wait.nextElementSibling?.toggleAttribute("hidden", left > 0);
  }, 1000);
}

if (idle !== "") runKiosk(Number(idle), sessionStorage);

/**
 * Each page replaces the one before, so the history leads nowhere. `state` outlives a page: `typed`
 * is the text in the field, and `idle` is set until somebody uses the kiosk.
 */
function runKiosk(idleMs: number, state: Storage): void {
  const shown = field.value;
  let next = "";
  let typing: ReturnType<typeof setTimeout> | undefined;
  let idling: ReturnType<typeof setTimeout> | undefined;

  /** Goes to another page as soon as the server responds. Until then, this page stays. */
  function go(url: string): void {
    next = url;
    const probe = new Image();
    probe.onload = () => next === url && location.replace(url);
    probe.onerror = () => setTimeout(() => next === url && go(url), RETRY_MS);
    probe.src = `${base}/favicon.svg?${Date.now()}`;
  }

  function leave(url = `${base}/`): void {
    state.removeItem("typed");
    clearTimeout(typing);
    go(url);
  }

  /** The server reads this cookie, and ignores it without a language. */
  function setLanguage(language: string): void {
    // biome-ignore lint/suspicious/noDocumentCookie: The Cookie Store API needs HTTPS.
    document.cookie = `language=${language};path=/`;
  }

  function search(): void {
    clearTimeout(typing);
    if (field.value.trim() === "") leave();
    else go(`${base}/?${new URLSearchParams({ q: field.value })}`);
  }

  function onTyped(): void {
    state.setItem("typed", field.value);
    clearTimeout(typing);
    const text = field.value.trim();
    if (text !== shown.trim() && [...text].length !== 1) typing = setTimeout(search, TYPING_MS);
  }

  function waitForIdle(): void {
    clearTimeout(idling);
    idling = setTimeout(() => {
      waitForIdle();
      state.setItem("idle", "yes");
      setLanguage("");
      leave();
    }, idleMs);
  }

  for (const type of ["contextmenu", "dragstart", "auxclick"]) {
    addEventListener(type, (event) => event.preventDefault());
  }
  // Blocks shortcuts such as Ctrl+T. Browsers allow that only if started with --app.
  document.addEventListener("keydown", (event) => {
    const { ctrlKey, metaKey, altKey, key } = event;
    if (ctrlKey || metaKey || altKey || /^F\d/.test(key)) event.preventDefault();
  });
  for (const type of ["pointerdown", "keydown", "input", "wheel"]) {
    addEventListener(type, () => {
      state.removeItem("idle");
      waitForIdle();
    });
  }
  addEventListener("click", (event) => {
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
  document.querySelector(".keys")?.addEventListener("mousedown", (event) => event.preventDefault());
  field.form?.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  field.addEventListener("input", onTyped);

  // Letters typed while this page was loading.
  field.value = state.getItem("typed") ?? shown;
  onTyped();
  field.focus({ preventScroll: true });
  field.setSelectionRange(field.value.length, field.value.length);

  let turn = 0;
  function highlight(): void {
    if (state.getItem("idle") === null) return;
    const cards = document.querySelectorAll(".card");
    for (const card of cards) card.classList.remove("sign");
    cards[turn++ % cards.length]?.classList.add("sign");
  }
  highlight();
  setInterval(highlight, HIGHLIGHT_MS);
  waitForIdle();
}
