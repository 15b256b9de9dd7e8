/** Opens a page in headless Chromium, which may reach this machine and nothing else. */
import { run, temporaryFolder } from "./support.ts";

const chromium = Bun.which("chromium");

export const chromiumPath = chromium ?? "chromium";

/** Whether to go ahead: Chromium is here, or its absence is a failure. */
export const tryBrowser = chromium !== null || Boolean(process.env.ROADBOOK_REQUIRE_ALL);

/** The page's document when its scripts have run for that much of its own time. */
export async function dumpPage(url: string, budgetMs: number): Promise<string> {
  const { stdout } = await run([
    chromiumPath,
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    `--user-data-dir=${temporaryFolder()}`,
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--window-size=1280,6000",
    `--virtual-time-budget=${budgetMs}`,
    "--dump-dom",
    url,
  ]);
  return stdout;
}
