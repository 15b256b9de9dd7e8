/** Reads the certificate and private key for HTTPS, or explains why they cannot be used. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { reasonOf } from "../files/errors.ts";

export type TlsPaths = Record<"cert" | "key", string>;

/** The certificate and its private key, both in PEM format. */
export type TlsFiles = Record<"cert" | "key", Buffer>;

/** If a file cannot be used, throws an error whose message is for the operator. */
export function readTls(paths: TlsPaths): TlsFiles {
  const [cert, key] = [read(paths.cert), read(paths.key)];
  const certificate = parse(
    () => new X509Certificate(cert),
    `${paths.cert} does not contain a PEM certificate`,
  );
  const privateKey = parse(
    () => createPrivateKey(key),
    `${paths.key} does not contain an unencrypted PEM private key`,
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(
      `the private key in ${paths.key} does not match the certificate in ${paths.cert}`,
    );
  }
  return { cert, key };
}

function parse<T>(attempt: () => T, message: string): T {
  try {
    return attempt();
  } catch {
    throw new Error(message);
  }
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${path} cannot be read: ${reasonOf(error)}`);
  }
}
