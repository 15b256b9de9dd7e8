/** Finds out what kind of source is at a path or URL, or why it can be none. */
import { InvalidValue } from "../../domain/invalid-value.ts";
import { isFolder, isUrl, STANDARD } from "../../files/input.ts";
import { isSnapshot } from "../format/layout.ts";

const URLS = "a postgres://, mysql://, mariadb:// or sqlite: URL";

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

const isDatabase = (location: string) =>
  /^(?:postgres(?:ql)?|mysql|mariadb|sqlite):/i.test(location);

function findPathProblem(location: string): string | undefined {
  if (isDatabase(location)) return "is a database; name the folder of its SELECTs with --queries";
  return isUrl(location) ? `must be a file, a folder, - or ${URLS}` : undefined;
}

function findDatabaseProblem(location: string): string | undefined {
  const { host, pathname, search, hash } = URL.parse(location) ?? {};
  // A password with / ? or # would end the host.
  const isServer = host && !`${pathname}${search}${hash}`.includes("@");
  if (isServer && /^m/i.test(location) && /^\/?$/.test(pathname ?? "")) {
    return "must name the database, as in mysql://reader@127.0.0.1/platform";
  }

  if (isDatabase(location) && (isServer || /^sqlite:./i.test(location))) return undefined;
  return `must be ${URLS}; write special characters in a password as %XX, such as %23 for #`;
}
