/** Reads the preferences in headers such as Accept-Language, and whether a client prefers a page. */
import Negotiator from "negotiator";

/** Only from the start of the header. All of a 15 KB header would outlast most pages. */
export function preferencesIn(headers: Headers, name: string): Negotiator {
  return new Negotiator({ headers: { [name]: headers.get(name)?.slice(0, 1000) } });
}

/** A client that accepts any type, as most programs do, gets JSON. */
export function prefersPage({ headers }: Request): boolean {
  const preferences = preferencesIn(headers, "accept");
  return preferences.mediaType(["application/json", "text/html"]) === "text/html";
}
