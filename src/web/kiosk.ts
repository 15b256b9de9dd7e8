/** The script of a kiosk: idle time, keys, languages, and pages that come in place of each other. */
/// <reference lib="dom" />

/** After how long a page is requested again. */
const RETRY_MS = 10_000;
/** After how long a visitor reads that a page is on its way. */
const NOTICE_MS = 1000;
/** After how long without typing a visitor most likely waits for results. */
const TYPING_MS = 350;
/** After how long without typing a visitor most likely reads results. */
const READING_MS = 4000;
/** How long a visitor reads that the kiosk is about to start over. */
const WARNING_MS = 10_000;
/** After how long without moving the mouse is hidden. */
const POINTER_MS = 3000;

type Key = HTMLButtonElement | HTMLAnchorElement;

/** `idle` is an interval. The others are named after what comes at their end. */
type Timer = "idle" | "search" | "blur" | "retry" | "notice" | "pointer";

/**
 * A kiosk does not navigate, because no script could return from a proxy's error page. It fetches
 * the next page, and shows it in place of this one once it is known to be complete and Roadbook's.
 */
export class Kiosk {
  /** Stays when the body is replaced. Its classes tell the style sheet what a visitor does. */
  readonly #root = document.documentElement;
  readonly #idleMs: number;
  readonly #onPage: () => void;
  readonly #timers: Partial<Record<Timer, ReturnType<typeof setTimeout>>> = {};
  /** The text in the field, which stays until the visitor leaves the search. */
  #typed: string | undefined;
  #isIdle = true;
  #deadline = 0;
  #attempt: AbortController | undefined;

  /** Calls `onPage` with each page that comes in place of another. */
  constructor(idleMs: number, onPage: () => void) {
    this.#idleMs = idleMs;
    this.#onPage = onPage;
    this.#use(this.#isStart);
    this.#watchIdle();
    this.#listen();
    this.#enter();
    this.#timers.idle = setInterval(() => this.#watchIdle(), 1000);
  }

  get #field(): HTMLInputElement {
    return find("#q");
  }

  get #start(): string {
    return find<HTMLAnchorElement>(".plate").href;
  }

  get #isStart(): boolean {
    return location.href === this.#start;
  }

  #wait(name: Timer, ms: number, act: () => void): void {
    this.#stop(name);
    this.#timers[name] = setTimeout(act, ms);
  }

  #stop(...names: Timer[]): void {
    for (const name of names) clearTimeout(this.#timers[name]);
  }

  #listen(): void {
    const use = () => this.#use();
    const cancel = () => false;
    /** If one returns false, the browser does nothing else. */
    const handlers: Partial<GlobalEventHandlers> = {
      oncontextmenu: cancel,
      ondragstart: cancel,
      onauxclick: cancel,
      onpointerdown: use,
      onpointermove: ({ pointerType }) => {
        this.#root.classList.toggle("pointing", pointerType === "mouse");
        this.#wait("pointer", POINTER_MS, () => this.#root.classList.remove("pointing"));
      },
      onwheel: use,
      onkeydown: ({ ctrlKey, metaKey, altKey, key }) => {
        use();
        if (key.length === 1) this.#setTyping(true);
        // Blocks shortcuts such as Ctrl+T. Browsers allow that only if started with --app.
        return !(ctrlKey || metaKey || altKey || /^F\d/.test(key));
      },
      oninput: () => {
        use();
        this.#readField();
      },
      onclick: ({ target }) => {
        const tapped = target as Element;
        this.#watchIdle();
        this.#setTyping(tapped.closest("#q, .keys") !== null);
        const key = tapped.closest<Key>("a:not(.skip), .top [type=button]");
        if (key) this.#press(key);
        return !key;
      },
      // Keeps the focus in the field.
      onmousedown: ({ target }) => !(target as Element).closest(".keys"),
      onsubmit: () => {
        this.#search();
        this.#setTyping(false);
        return false;
      },
    };
    Object.assign(document, handlers);
  }

  /** A class, because `:focus` matches nothing in a window that is not active. */
  #setTyping(isTyping: boolean): void {
    this.#root.classList.toggle("typing", isTyping);
    if (isTyping) this.#field.focus();
    else this.#field.blur();
  }

  #press(key: Key): void {
    const field = this.#field;
    if ("href" in key) this.#leave(key.href);
    else if (key.lang) {
      setLanguage(key.lang);
      this.#go(location.href);
    } else {
      field.value = key.value ? field.value + key.value : field.value.slice(0, -1);
      this.#readField();
    }
  }

  /** Keeps the text, and plans a search for it, unless this page has its results. */
  #readField(): void {
    const { value, defaultValue } = this.#field;
    this.#typed = value;
    find("main").scrollTop = 0;
    this.#wait("search", TYPING_MS, () => {
      const text = value.trim();
      if (text !== defaultValue.trim() && [...text].length !== 1) this.#search();
    });
    this.#wait("blur", READING_MS, () => {
      if (!this.#isStart) this.#setTyping(false);
    });
  }

  #search(): void {
    this.#stop("search");
    const { value: q, form } = this.#field;
    if (q.trim()) this.#go(`${form?.action}?${new URLSearchParams({ q })}`);
    else this.#leave();
  }

  #leave(url = this.#start): void {
    this.#stop("search");
    this.#typed = undefined;
    this.#go(url);
  }

  /** Until the server sends the page, this one stays. */
  #go(url: string): void {
    this.#attempt?.abort();
    this.#attempt = new AbortController();
    this.#wait("retry", RETRY_MS, () => this.#go(url));
    this.#wait("notice", NOTICE_MS, () => {
      find(".moment").hidden = this.#isIdle && find("main").hasChildNodes();
    });
    this.#show(url, this.#attempt.signal).catch(() => {});
  }

  async #show(url: string, signal: AbortSignal): Promise<void> {
    const text = await fetchPage(url, signal);
    if (text === undefined) return;

    const page = new DOMParser().parseFromString(text, "text/html");
    // The head is the same on all pages of a release with the same settings.
    if (page.head.isEqualNode(document.head)) this.#replaceBody(url, page);
    else if (await hasFiles(page, signal)) this.#giveWay(url, text);
  }

  #replaceBody(url: string, page: Document): void {
    this.#stop("retry", "notice");
    setAddress(url);
    this.#root.lang = page.documentElement.lang;
    const isTyping = document.activeElement === this.#field;
    document.body.replaceWith(page.body);
    this.#onPage();
    this.#enter(isTyping);
  }

  /** Gives the window to the scripts of another release. */
  #giveWay(url: string, text: string): void {
    this.#stop(...(Object.keys(this.#timers) as Timer[]));
    setAddress(url);
    // Opens a new document.
    document.write(text);
    document.close();
  }

  #enter(isTyping = false): void {
    const field = this.#field;
    // Letters typed while this page was loading.
    const text = this.#typed ?? field.defaultValue;
    field.value = "";
    // A new value moves the cursor to its end.
    field.value = text;
    this.#setTyping(isTyping || this.#isStart);
    this.#readField();
  }

  /** Puts off the end of the idle time, by a clock that does not jump. */
  #use(isIdle = false): void {
    this.#isIdle = isIdle;
    this.#deadline = performance.now() + this.#idleMs;
  }

  #watchIdle(): void {
    const left = this.#deadline - performance.now();
    if (left <= 0) this.#startOver();
    find(".soon").hidden = this.#isIdle || left > WARNING_MS;
    find(".soon b").textContent = (left / 1000).toFixed();
  }

  /** Removes what the visitor has seen at once, even if the start page cannot be had. */
  #startOver(): void {
    this.#use(true);
    setLanguage("");
    this.#field.value = "";
    find<HTMLAnchorElement>("#back").href = "";
    if (!this.#isStart) find("main").replaceChildren();
    setAddress(this.#start);
    this.#leave();
  }
}

/** Throws if the page, which may be half a page, has no such element. */
function find<Found extends HTMLElement>(selector: string): Found {
  const found = document.querySelector<Found>(selector);
  if (!found) throw new Error(selector);
  return found;
}

/** Whether the server has the script and the style sheet of a page. */
async function hasFiles({ head }: Document, signal: AbortSignal): Promise<boolean> {
  for (const tag of head.querySelectorAll("[src],[rel=stylesheet]")) {
    const path = tag.getAttribute("src") ?? tag.getAttribute("href") ?? "";
    if (!(await fetch(path, { signal })).ok) return false;
  }
  return true;
}

function setAddress(url: string): void {
  history.replaceState(null, "", url);
}

function setLanguage(language: string): void {
  // biome-ignore lint/suspicious/noDocumentCookie: The Cookie Store API needs HTTPS.
  document.cookie = `language=${language};path=/`;
}

/**
 * A kiosk's page of any release, with its style sheet and its script, which no page of a proxy or a
 * portal has. A proxy may also send only half of it.
 */
const WHOLE_PAGE = /"kiosk">.*\/page-\w+\.css".*\/page-\w+\.js".*<\/html>\s*$/s;

/** Returns undefined for any other page. The script in the head calls this too. */
export async function fetchPage(url: string, signal: AbortSignal): Promise<string | undefined> {
  const headers = { accept: "text/html" };
  const response = await fetch(url, { signal, headers, cache: "reload" });
  const text = await response.text();
  return WHOLE_PAGE.test(text) ? text : undefined;
}
