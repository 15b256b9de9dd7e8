/** Reads the certificate and the key to serve https with, and says in plain words what is wrong. */
import type { KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

export interface TlsPaths {
  cert: string;
  key: string;
}

/** Both as PEM. */
export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
}

/** Throws an error whose message is for the operator. */
export function readTls(paths: TlsPaths): TlsFiles {
  // Loaded when it is wanted: 2 ms of a start.
  const crypto = process.getBuiltinModule("node:crypto");
  const [cert, key] = [read(paths.cert), read(paths.key)];
  let certificate: X509Certificate;
  try {
    certificate = new crypto.X509Certificate(cert);
  } catch {
    throw new Error(`${paths.cert} holds no certificate (PEM)`);
  }
  let privateKey: KeyObject;
  try {
    privateKey = crypto.createPrivateKey(key);
  } catch {
    throw new Error(`${paths.key} holds no private key (PEM, without a passphrase)`);
  }
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`the key in ${paths.key} is not that of the certificate in ${paths.cert}`);
  }
  return { cert, key };
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
