/** A headless Chromium browser, and accessibility checks of a page with axe. */
import { type Browser, chromium, type Page } from "playwright-core";

const found = Bun.which("chromium");
export const chromiumPath = found ?? "chromium";

/** Browser tests run if Chromium is installed, or if the test run must fail without it. */
export const tryBrowser = found !== null || Boolean(process.env.ROADBOOK_REQUIRE_ALL);

export function launchBrowser(): Promise<Browser> {
  const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];
  // Avatars in test data are on hosts that do not exist. Asking for their addresses may take long.
  const hosts = "--host-resolver-rules=MAP *.example ~NOTFOUND";
  const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", hosts, ...quiet];
  return chromium.launch({ executablePath: chromiumPath, args });
}

const axe = await Bun.file(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir)).text();

/** Checks a page against all of axe's rules, or only against the rules with the given ids. */
export async function listViolations(page: Page, ...rules: string[]) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  return page.evaluate(async (rules) => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run(rules.length > 0 ? { runOnly: rules } : {});
    return violations.map(({ id, impact, nodes }) => {
      return { id, impact: String(impact), nodes: nodes.map(({ html }) => html) };
    });
  }, rules);
}
