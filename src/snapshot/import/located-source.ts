/** Finds out what kind of source is at a path or URL, or why it can be none. */
import { InvalidValue } from "../../domain/invalid-value.ts";
import { isFolder, isUrl } from "../../files/input.ts";
import { isSnapshot } from "../format/layout.ts";

const URLS = "a postgres://, mysql://, mariadb:// or sqlite: URL";

type SourceKind = "database" | "folder" | "snapshot" | "lines";

/** A path or URL, and what is there. */
export class LocatedSource {
  readonly location: string;
  readonly kind: SourceKind;

  private constructor(location: string, kind: SourceKind) {
    this.location = location;
    this.kind = kind;
  }

  /** Rejects with an {@link InvalidValue} if nothing can be there. */
  static async find(location: string, queries: string | undefined): Promise<LocatedSource> {
    const problem = findLocationProblem(location, queries);
    if (problem !== undefined) throw new InvalidValue(problem);
    if (queries !== undefined) return new LocatedSource(location, "database");
    if (isFolder(location)) return new LocatedSource(location, "folder");
    return new LocatedSource(location, (await isSnapshot(location)) ? "snapshot" : "lines");
  }
}

/** A location may have a password, so the problem does not repeat it. */
function findLocationProblem(source: string, queries: string | undefined): string | undefined {
  const isDatabase = /^(?:postgres(?:ql)?|mysql|mariadb|sqlite):/i.test(source);
  if (queries === undefined) {
    if (isDatabase) return "is a database; name the folder of its SELECTs with --queries";
    return isUrl(source) ? `must be a file, a folder, - or ${URLS}` : undefined;
  }

  const { host, pathname, search, hash } = URL.parse(source) ?? {};
  // A password with / ? or # would end the host.
  const isServer = host && !`${pathname}${search}${hash}`.includes("@");
  if (isServer && /^m/i.test(source) && /^\/?$/.test(pathname ?? "")) {
    return "must name the database, as in mysql://reader@127.0.0.1/platform";
  }

  if (isDatabase && (isServer || /^sqlite:./i.test(source))) return undefined;
  return `must be ${URLS}; write special characters in a password as %XX, such as %23 for #`;
}
