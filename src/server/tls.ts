/** Reads the certificate and private key for HTTPS. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { reasonOf } from "../files/errors.ts";

/** The certificate and its private key, both in PEM format. */
export type TlsFiles = Record<"cert" | "key", Buffer>;

/** If a file cannot be used, throws an error whose message is for the operator. */
export function readTls(paths: Record<"cert" | "key", string>): TlsFiles {
  const [cert, key] = [read(paths.cert), read(paths.key)];
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  } catch {
    // Not in PEM format, or encrypted.
  }
  const wanted = "a PEM certificate and its unencrypted private key";
  throw new Error(`${paths.cert} and ${paths.key} are not ${wanted}`);
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${path} cannot be read: ${reasonOf(error)}`);
  }
}
