/**
 * Content coding (RFC 9110, 12.5.3): chooses a coding that the client accepts and encodes bodies.
 */
import zlib from "node:zlib";
import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";

type Compressed = "zstd" | "br" | "gzip";
export type Coding = Compressed | "identity";
export type Body = string | Uint8Array<ArrayBuffer>;

/** Shorter bodies fit into one packet even without compression. */
const MIN_BYTES = 1024;

export const compress: Record<Compressed, (bytes: Uint8Array) => Buffer<ArrayBuffer>> = {
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
  br: (bytes) =>
    zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (bytes) => zlib.gzipSync(bytes, { level: 4 }),
};

/** Only the docs page's script is stored compressed, and always with gzip. */
export const decompress = (body: Body): Buffer<ArrayBuffer> => zlib.gunzipSync(body);

/** The supported codings, in order of preference. */
const codings: readonly Coding[] = ["zstd", "br", "gzip", "identity"];

/** The codings that `*` stands for. Some clients that send `*` cannot decode zstd or Brotli. */
const wildcardCodings: readonly Coding[] = ["gzip", "identity"];

/** Caches the choice for each header, because nearly all clients send one of a few headers. */
const chosen = new LRUCache<string, Coding>({ max: 100, memoMethod: (header) => choose(header) });

/**
 * Chooses the coding for a body, given the client's Accept-Encoding. A body already stored in the
 * coding `stored` keeps that coding if the client accepts it and does not prefer an uncompressed
 * body.
 */
export function codingFor(body: Body, stored: Coding | undefined, header: string | null): Coding {
  if (header === null) return "identity";
  if (stored) return choose(header, [stored, "identity"]);
  const bytes = Buffer.byteLength(body);
  return bytes > MIN_BYTES ? chosen.memo(header) : "identity";
}

/** @types/negotiator lacks the `preferred` option, which ranks codings of equal weight. */
interface PreferringNegotiator {
  encoding(
    available: readonly string[],
    options: { preferred: readonly string[] },
  ): string | undefined;
}

/**
 * Returns the coding with the highest weight in the header. Ties go to the first in `available`.
 */
function choose(header: string, available = codings): Coding {
  const negotiator: PreferringNegotiator = new Negotiator({
    headers: { "accept-encoding": header },
  });
  const offered = available.filter(
    (coding) => wildcardCodings.includes(coding) || new RegExp(`\\b${coding}\\b`, "i").test(header),
  );
  const best = negotiator.encoding(offered, { preferred: offered });
  return available.find((coding) => coding === best) ?? "identity";
}
