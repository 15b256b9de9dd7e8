/**
 * The script in the head of a kiosk's page. Until the page's own script runs, this one reloads the page,
 * but only once the server responds with it. After the idle time, it removes what a visitor has seen.
 */
/// <reference lib="dom" />
import { fetchPage } from "./kiosk.ts";

const LOOK_MS = 30_000;
const TIMEOUT_MS = 20_000;
/** If the tag of the other script, which has the idle time, did not arrive. */
const IDLE_MS = 60_000;

const timer = setInterval(() => {
  const { idle = IDLE_MS, base = "" } =
    document.querySelector<HTMLScriptElement>("script[src]")?.dataset ?? {};
  const start = `${base}/`;
  if (performance.now() > Number(idle) && location.pathname + location.search !== start) {
    document.body?.replaceChildren();
    history.replaceState(null, "", start);
  }
  void reloadIfWhole().catch(() => {});
}, LOOK_MS);

addEventListener("kiosk", () => clearInterval(timer));

async function reloadIfWhole(): Promise<void> {
  if (await fetchPage(location.href, AbortSignal.timeout(TIMEOUT_MS))) location.reload();
}
