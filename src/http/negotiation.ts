/** Reads the Accept headers of a request, and chooses the coding of the response by them. */
import Negotiator from "negotiator";
import type { Body, Coding } from "./content.ts";

/** Negotiates by the start of a header. All of a 15 KB header would outlast most pages. */
export function preferencesIn(headers: Headers, name: string): Negotiator {
  return new Negotiator({ headers: { [name]: headers.get(name)?.slice(0, 1000) } });
}

/** Compression would save little of a shorter body. */
const MIN_COMPRESSED_BYTES = 1024;

/** Chooses by Accept-Encoding. Only gzip, because most bodies are too short to gain from another. */
export function codingFor(body: Body, headers: Headers): Coding {
  if (!headers.has("accept-encoding") || Buffer.byteLength(body) <= MIN_COMPRESSED_BYTES) {
    return "identity";
  }
  const preferences = preferencesIn(headers, "accept-encoding");
  return preferences.encoding(["gzip", "identity"]) === "gzip" ? "gzip" : "identity";
}
