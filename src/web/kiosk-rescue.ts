/** The script in the head of a kiosk's page, for when the other one does not run. */
import { WHOLE_PAGE } from "./whole-page.ts";

/**
 * Until a kiosk's own script runs, this one reloads the page, but only once it would load. After the
 * idle time, it removes what a visitor has seen.
 */
export const RESCUE = `{
  const timer = setInterval(() => {
    const { idle = 60000, base = "" } = document.querySelector("script[src]")?.dataset ?? {};
    if (performance.now() > idle && location.pathname + location.search !== base + "/") {
      document.body?.replaceChildren();
      history.replaceState(null, "", base + "/");
    }
    const signal = AbortSignal.timeout(20000);
    fetch(location, { signal, headers: { accept: "text/html" }, cache: "reload" })
      .then((response) => response.text())
      .then((page) => ${WHOLE_PAGE}.test(page) && location.reload())
      .catch(() => {});
  }, 30000);
  addEventListener("kiosk", () => clearInterval(timer));
}`;
