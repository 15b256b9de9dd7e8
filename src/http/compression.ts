/** Content coding (RFC 9110, 12.5.3): which of ours a client takes, and the bytes in it. */
import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";

export type Coding = "zstd" | "br" | "gzip";

/** Shorter responses fit into one packet anyway. */
const MIN_BYTES = 1024;

/** Longer ones hold up others: 3 MB of text that does not repeat take gzip 56 ms. */
const MAX_BYTES = 512 * 1024;

/** Whether it is worth while to compress so many bytes for one response. */
export function isCompressible(bytes: number): boolean {
  return bytes > MIN_BYTES && bytes <= MAX_BYTES;
}

/** Loaded when it is first used: with streams, which it needs, it takes 3 ms of a start. */
export const zlib = () => process.getBuiltinModule("node:zlib");

/** In our order: 12 KB of achievements become 4 in each, zstd in 31 µs, gzip 40, Brotli 82. */
const coders: Record<Coding, (bytes: Uint8Array) => Buffer<ArrayBuffer>> = {
  zstd: (bytes) => zlib().zstdCompressSync(bytes),
  br: (bytes) =>
    zlib().brotliCompressSync(bytes, {
      params: { [zlib().constants.BROTLI_PARAM_QUALITY]: 4 },
    }),
  gzip: (bytes) => zlib().gzipSync(bytes, { level: 4 }),
};

const codings = Object.keys(coders) as Coding[];
const IDENTITY = "identity";

/** Browsers send 30 characters. A longer header counts as none: 256 KB of commas take 180 ms to read. */
const MAX_HEADER_LENGTH = 256;

/** Reading a header takes 2 µs, a third of a cached response, and nearly all clients send one of a few. */
const chosen = new LRUCache<string, Coding | typeof IDENTITY>({ max: 100 });

/**
 * The coding that Accept-Encoding gives the most weight, ours first among equals. Undefined for none:
 * when the header likes that better, or takes none of ours.
 */
export function chooseCoding(header: string): Coding | undefined {
  if (header.length > MAX_HEADER_LENGTH) return undefined;
  let coding = chosen.get(header);
  if (coding === undefined) {
    coding = negotiate(header);
    chosen.set(header, coding);
  }
  return coding === IDENTITY ? undefined : coding;
}

/** What @types/negotiator lacks: the order among equals. */
interface PreferringNegotiator {
  encoding(
    available: readonly string[],
    options: { preferred: readonly string[] },
  ): string | undefined;
}

function negotiate(
  header: string,
  available: readonly Coding[] = codings,
): Coding | typeof IDENTITY {
  const negotiator: PreferringNegotiator = new Negotiator({
    headers: { "accept-encoding": header },
  });
  const best = negotiator.encoding([...available, IDENTITY], { preferred: available });
  return codings.find((coding) => coding === best) ?? IDENTITY;
}

/** Whether Accept-Encoding likes that coding no less than none. */
export function isAccepted(coding: Coding, header: string): boolean {
  return header.length <= MAX_HEADER_LENGTH && negotiate(header, [coding]) === coding;
}

export function compress(bytes: Uint8Array, coding: Coding): Buffer<ArrayBuffer> {
  return coders[coding](bytes);
}
