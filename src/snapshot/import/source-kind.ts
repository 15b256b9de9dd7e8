/** Finds out what kind of source is at a path or URL, or why it can be none. */
import { InvalidValue } from "../../domain/invalid-value.ts";
import { isFolder, isUrl, STANDARD } from "../../files/input.ts";
import { DATABASE_URLS, dialects, findDialect } from "../../tables/dialects.ts";
import { isSnapshot } from "../format/layout.ts";

export type SourceKind = "database" | "folder" | "snapshot" | "lines";

/**
 * Finds out what is at a location. Rejects with an {@link InvalidValue} if nothing can be there. The
 * error does not repeat the location, which may have a password.
 */
export async function findSourceKind(
  location: string,
  queries: string | undefined,
): Promise<SourceKind> {
  const problem = queries === undefined ? findPathProblem(location) : findDatabaseProblem(location);
  if (problem !== undefined) throw new InvalidValue(problem);

  if (queries !== undefined) return "database";
  // A folder or a snapshot of that name can be given as ./-.
  if (location === STANDARD) return "lines";
  if (isFolder(location)) return "folder";
  return (await isSnapshot(location)) ? "snapshot" : "lines";
}

function findPathProblem(location: string): string | undefined {
  if (findDialect(location)) return "is a database; name the folder of its SELECTs with --queries";
  return isUrl(location) ? `must be a file, a folder, - or ${DATABASE_URLS}` : undefined;
}

function findDatabaseProblem(url: string): string | undefined {
  const dialect = findDialect(url);
  const isComplete = dialect === dialects.sqlite ? /:./.test(url) : hasHost(url);
  if (!dialect || !isComplete) {
    const advice = "write special characters in a password as %XX, such as %23 for #";
    return `must be ${DATABASE_URLS}; ${advice}`;
  }

  const isNameless = /^\/?$/.test(URL.parse(url)?.pathname ?? "");
  if (!dialect.needsName || !isNameless) return undefined;
  return "must name the database, as in mysql://reader@127.0.0.1/platform";
}

/** False for a password with / ? or #, which would end the host. */
function hasHost(url: string): boolean {
  const { host, pathname, search, hash } = URL.parse(url) ?? {};
  return Boolean(host) && !`${pathname}${search}${hash}`.includes("@");
}
