/** Chooses the coding of a response: gzip or none. */

import type { Body, Coding } from "./content.ts";
import { preferencesIn } from "./negotiate.ts";

/** Compression would save little of a shorter body. */
const MIN_COMPRESSED_BYTES = 1024;

/** Only gzip, because most bodies are too short to gain from another coding. */
export function codingFor(body: Body, headers: Headers): Coding {
  if (!headers.has("accept-encoding") || Buffer.byteLength(body) <= MIN_COMPRESSED_BYTES) {
    return "identity";
  }
  const preferences = preferencesIn(headers, "accept-encoding");
  return preferences.encoding(["gzip", "identity"]) === "gzip" ? "gzip" : "identity";
}
