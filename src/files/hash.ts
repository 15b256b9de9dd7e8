/**
 * Computes SHA-1 and SHA-256. On Bun, its own functions do, because `node:crypto` loads Node's streams,
 * which would take a fifth of a server's start. For the same reason, `node:zlib`, `node:net` and
 * `node:tty` are loaded by what a server does later, if at all.
 */

type Algorithm = "SHA1" | "SHA256";
type Encoding = "hex" | "base64" | "base64url";

interface Hash {
  update(data: string | Uint8Array): Hash;
  digest(encoding: Encoding): string;
}

const node = process.versions.bun ? undefined : process.getBuiltinModule("node:crypto");

export function hash(algorithm: Algorithm, data: string | Uint8Array, encoding: Encoding): string {
  return node?.hash(algorithm, data, encoding) ?? Bun[algorithm].hash(data, encoding);
}

/** For data that comes in parts. */
export function createHash(algorithm: Algorithm): Hash {
  return node?.createHash(algorithm) ?? new Bun[algorithm]();
}
