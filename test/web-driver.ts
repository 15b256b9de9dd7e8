/**
 * Firefox and WebKitGTK, driven by what they speak: WebDriver BiDi and WebDriver. Their windows are
 * never active, as on a screen without a window manager.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePort, temporaryFolder, until } from "./support.ts";

export interface WebDriver {
  readonly goto: (url: string) => Promise<unknown>;
  /** Calls a function in the page. Arguments and result must be JSON. */
  evaluate<Args extends unknown[], T>(call: (...args: Args) => T, ...args: Args): Promise<T>;
  /** Sends input as the standard describes it. */
  readonly perform: (actions: object[]) => Promise<unknown>;
  readonly resize: (width: number, height: number) => Promise<unknown>;
  /** A picture of the window, as Base64. */
  readonly screenshot: () => Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** As in the tests with Chromium: scrollbars that take no room, and no animations. */
const PREFERENCES = { "ui.useOverlayScrollbars": 1, "ui.prefersReducedMotion": 1 };

export async function openFirefox(): Promise<WebDriver> {
  const profile = temporaryFolder();
  const preferences = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref("${name}", ${value});\n`,
  );
  writeFileSync(join(profile, "user.js"), preferences.join(""));
  const command = ["firefox-esr", "--headless", "--remote-debugging-port=0", "--profile", profile];
  const env = { ...process.env, HOME: profile };
  const browser = Bun.spawn(command, { env, stdout: "ignore", stderr: "pipe" });
  const url = await findIn(browser.stderr, /BiDi listening on (ws:\S+)/);

  const socket = new WebSocket(`${url}/session`);
  const waiting: PromiseWithResolvers<Result>[] = [];
  const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
  socket.onopen = () => open();
  socket.onmessage = ({ data }) => {
    const { type, id, result, message } = JSON.parse(data);
    if (type === "error") waiting[id]?.reject(new Error(message));
    else waiting[id]?.resolve(result);
  };
  await isOpen;

  function send(method: string, params: object = {}): Promise<Result> {
    const response = Promise.withResolvers<Result>();
    socket.send(JSON.stringify({ id: waiting.push(response) - 1, method, params }));
    return response.promise;
  }

  await send("session.new", { capabilities: {} });
  const { contexts } = await send("browsingContext.getTree");
  const [{ context }] = contexts;
  return {
    goto: (url) => send("browsingContext.navigate", { context, url, wait: "complete" }),
    async evaluate(call, ...args) {
      const expression = expressionOf(call, args);
      const target = { context };
      const { result } = await send("script.evaluate", { expression, target, awaitPromise: false });
      return JSON.parse(result.value);
    },
    perform: (actions) => send("input.performActions", { context, actions }),
    resize: (width, height) =>
      send("browsingContext.setViewport", { context, viewport: { width, height } }),
    screenshot: async () => (await send("browsingContext.captureScreenshot", { context })).data,
    async [Symbol.asyncDispose]() {
      await send("browser.close");
      await browser.exited;
    },
  };
}

/** WebKitGTK may lose a script if the page is left meanwhile. It answers the next one. */
const LOST_SCRIPT_MS = 10_000;

function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "TimeoutError" || error.message.includes("before the unload event");
}

/** Opens WebKitGTK's test browser on a screen in memory. */
export async function openWebKit(env: Record<string, string> = {}): Promise<WebDriver> {
  const xvfb = ["Xvfb", "-displayfd", "1", "-screen", "0", "1920x1980x24", "-nolisten", "tcp"];
  const screen = Bun.spawn(xvfb, { stdout: "pipe", stderr: "ignore" });
  const display = await findIn(screen.stdout, /(\d+)\n/);
  const port = findFreePort();
  const driver = Bun.spawn(["WebKitWebDriver", `--port=${port}`], {
    env: { ...process.env, HOME: temporaryFolder(), DISPLAY: `:${display}`, ...env },
    stdout: "ignore",
    stderr: "ignore",
  });
  const origin = `http://127.0.0.1:${port}`;
  await until(() => fetch(`${origin}/status`).then(Boolean, () => false));

  async function send(path: string, body: object | null, init?: RequestInit): Promise<Result> {
    const sent = { method: "POST", body: body && JSON.stringify(body), ...init };
    const response = await fetch(origin + path, sent);
    const { value } = await response.json();
    if (!response.ok) throw new Error(value.message);
    return value;
  }

  const { sessionId } = await send("/session", { capabilities: {} });
  const session = `/session/${sessionId}`;
  const browser: WebDriver = {
    goto: (url) => send(`${session}/url`, { url }),
    async evaluate(call, ...args) {
      const body = { script: `return ${expressionOf(call, args)}`, args: [] };
      for (;;) {
        try {
          const signal = AbortSignal.timeout(LOST_SCRIPT_MS);
          return JSON.parse(await send(`${session}/execute/sync`, body, { signal }));
        } catch (error) {
          if (!isLost(error)) throw error;
        }
      }
    },
    perform: (actions) => send(`${session}/actions`, { actions }),
    async resize(width, height) {
      // The window is larger than the page by its tool bar.
      const bar = await browser.evaluate(() => outerHeight - innerHeight);
      await send(`${session}/window/rect`, { x: 0, y: 0, width, height: height + bar });
      await until(() => browser.evaluate((height) => innerHeight === height, height));
    },
    screenshot: () => send(`${session}/screenshot`, null, { method: "GET" }),
    async [Symbol.asyncDispose]() {
      // Fails if the browser has ended by itself.
      await send(session, null, { method: "DELETE" }).catch(() => {});
      for (const child of [driver, screen]) {
        child.kill();
        await child.exited;
      }
    },
  };
  return browser;
}

// biome-ignore lint/suspicious/noExplicitAny: Its shape depends on the command.
type Result = any;

function expressionOf(call: (...args: never[]) => unknown, args: unknown[]): string {
  return `JSON.stringify((${call})(...${JSON.stringify(args)}) ?? null)`;
}

/** Waits until a program has written what matches, and returns the first group. */
async function findIn(output: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const chunk of output) {
    text += Buffer.from(chunk).toString();
    const [, found] = pattern.exec(text) ?? [];
    if (found) return found;
  }
  throw new Error(`no ${pattern}, only: ${text}`);
}

/** Taps the first element that matches and, if given, has this text or label. */
export async function tap(driver: WebDriver, selector: string, name?: string): Promise<void> {
  const place = await driver.evaluate(
    (selector, name) => {
      const element = [...document.querySelectorAll<HTMLElement>(selector)].find((element) => {
        const names = [element.textContent, element.ariaLabel];
        return element.checkVisibility() && (name === null || names.includes(name));
      });
      element?.scrollIntoView({ block: "nearest" });
      const box = element?.getBoundingClientRect();
      return box && { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
    },
    selector,
    name ?? null,
  );
  if (!place) throw new Error(`no ${selector} ${name}`);
  await tapAt(driver, place.x, place.y);
}

export async function tapAt(driver: WebDriver, x: number, y: number): Promise<void> {
  const actions = [
    { type: "pointerMove", x, y, duration: 0 },
    { type: "pointerDown", button: 0 },
    { type: "pointerUp", button: 0 },
  ];
  await driver.perform([
    { type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions },
  ]);
}

/** Types on a keyboard. */
export async function type(driver: WebDriver, text: string): Promise<void> {
  const actions = [...text].flatMap((value) => [
    { type: "keyDown", value },
    { type: "keyUp", value },
  ]);
  await driver.perform([{ type: "key", id: "keyboard", actions }]);
}
