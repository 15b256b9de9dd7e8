/** Reads the preferences in a header such as Accept-Language. */
import Negotiator from "negotiator";

/** Only from the start of the header. All of a 15 KB header would outlast most pages. */
export function preferencesIn(headers: Headers, name: string): Negotiator {
  return new Negotiator({ headers: { [name]: headers.get(name)?.slice(0, 1000) } });
}
