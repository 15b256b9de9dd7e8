/**
 * Computes checksums. On Bun, its own functions do, because `node:crypto` and `node:zlib` load Node's
 * streams, which would take a fifth of a server's start. For the same reason, `node:net` and
 * `node:tty` are loaded when they are needed, if at all.
 */

type Algorithm = "SHA1" | "SHA256";
type Encoding = "hex" | "base64" | "base64url";

interface Hash {
  update(data: string | Uint8Array): Hash;
  digest(encoding: Encoding): string;
}

const isBun = process.versions.bun !== undefined;
const node = isBun ? undefined : process.getBuiltinModule("node:crypto");

export const crc32: (bytes: Uint8Array) => number = isBun
  ? Bun.hash.crc32
  : process.getBuiltinModule("node:zlib").crc32;

export function hash(algorithm: Algorithm, data: string | Uint8Array, encoding: Encoding): string {
  return node?.hash(algorithm, data, encoding) ?? Bun[algorithm].hash(data, encoding);
}

/** For data that comes in parts. */
export function createHash(algorithm: Algorithm): Hash {
  return node?.createHash(algorithm) ?? new Bun[algorithm]();
}
