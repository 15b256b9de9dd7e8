/**
 * The short script in the head of a kiosk's page. Until the page's own script runs, it tries to load
 * the page again, and reloads it only if that works.
 */
export const RESCUE = `{
  const timer = setInterval(() => {
    fetch(location, { signal: AbortSignal.timeout(20000), headers: { accept: "text/html" } })
      .then((response) => response.text())
      .then((page) => /class="moment"/.test(page) && location.reload())
      .catch(() => {});
  }, 30000);
  addEventListener("kiosk", () => clearInterval(timer));
}`;
