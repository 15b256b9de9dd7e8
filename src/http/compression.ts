/**
 * Content coding (RFC 9110, 12.5.3). Bodies are compressed with gzip, which every client accepts.
 * Measured on responses and pages, zstd is mostly 1 to 6 % longer, and Brotli is 0 to 13 % shorter
 * but takes twice as long. Either saves less than one packet.
 */
import zlib from "node:zlib";
import Negotiator from "negotiator";

export type Coding = "gzip" | "identity";
export type Body = string | Uint8Array<ArrayBuffer>;

/** Shorter bodies fit into one packet even without compression. */
const MIN_BYTES = 1024;

/** Converts a body to a coding from the other one. */
export const recode: Record<Coding, (body: Body) => Uint8Array<ArrayBuffer>> = {
  gzip: (body) => zlib.gzipSync(body, { level: 4 }),
  identity: (body) => zlib.gunzipSync(body),
};

/** Chooses the coding for a body, given the client's Accept-Encoding. */
export function codingFor(body: Body, header: string | null): Coding {
  if (header === null || Buffer.byteLength(body) <= MIN_BYTES) return "identity";
  const negotiator = new Negotiator({ headers: { "accept-encoding": header } });
  return negotiator.encoding(["gzip", "identity"]) === "gzip" ? "gzip" : "identity";
}
