/** Finds out what kind of source is at a path or URL, or why it can be none. */
import { isFolder, isUrl } from "../../files/input.ts";
import { isSnapshot } from "../format/layout.ts";

const URLS = "a postgres://, mysql://, mariadb:// or sqlite: URL";

export type SourceKind = "database" | "folder" | "snapshot" | "lines";

/** Finds out what is at a location that has no {@link findSourceProblem}. */
export async function findSourceKind(
  location: string,
  queries: string | undefined,
): Promise<SourceKind> {
  if (queries !== undefined) return "database";
  if (isFolder(location)) return "folder";
  return (await isSnapshot(location)) ? "snapshot" : "lines";
}

/**
 * Says why nothing can be at a location, to continue a sentence that begins with the name of the
 * source. Does not repeat the location, which may have a password.
 */
export function findSourceProblem(
  location: string,
  queries: string | undefined,
): string | undefined {
  const isDatabase = /^(?:postgres(?:ql)?|mysql|mariadb|sqlite):/i.test(location);
  if (queries === undefined) {
    if (isDatabase) return "is a database; name the folder of its SELECTs with --queries";
    return isUrl(location) ? `must be a file, a folder, - or ${URLS}` : undefined;
  }

  const { host, pathname, search, hash } = URL.parse(location) ?? {};
  // A password with / ? or # would end the host.
  const isServer = host && !`${pathname}${search}${hash}`.includes("@");
  if (isServer && /^m/i.test(location) && /^\/?$/.test(pathname ?? "")) {
    return "must name the database, as in mysql://reader@127.0.0.1/platform";
  }

  if (isDatabase && (isServer || /^sqlite:./i.test(location))) return undefined;
  return `must be ${URLS}; write special characters in a password as %XX, such as %23 for #`;
}
