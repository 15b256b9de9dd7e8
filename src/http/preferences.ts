/** Reads the Accept headers of a request, by which a response is chosen. */
import Negotiator from "negotiator";

/** Negotiates by the start of a header. All of a 15 KB header would outlast most pages. */
export function preferencesIn(headers: Headers, name: string): Negotiator {
  return new Negotiator({ headers: { [name]: headers.get(name)?.slice(0, 1000) } });
}
