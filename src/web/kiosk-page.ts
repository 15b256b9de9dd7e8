/** How both scripts of a kiosk fetch a page, and recognize one that they may show. */
/// <reference lib="dom" />

/**
 * A kiosk's page of any release, with its style sheet and its script, which no page of a proxy or a
 * portal has. A proxy may also send only half of it.
 */
const WHOLE_PAGE = /"kiosk">.*\/page-\w+\.css".*\/page-\w+\.js".*<\/html>\s*$/s;

/** Returns undefined for any other page. */
export async function fetchPage(url: string, signal: AbortSignal): Promise<string | undefined> {
  const headers = { accept: "text/html" };
  const response = await fetch(url, { signal, headers, cache: "reload" });
  const text = await response.text();
  return WHOLE_PAGE.test(text) ? text : undefined;
}
