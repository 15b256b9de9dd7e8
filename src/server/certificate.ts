/** Reads the files of TLS when the server starts, and warns before the certificate expires. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import { reasonOf } from "../files/errors.ts";

const DAY_MS = 86_400_000;
const WARNED_DAYS = 14;

/** TLS 1.2 ciphers with forward secrecy and authenticated encryption, which TLS 1.3 always has. */
export const CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20";

/** A certificate and its private key, both in PEM format. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

/** If the files cannot be used, throws an error whose message is for the operator. */
export function readTls(paths: Record<"cert" | "key", string>): Certificate {
  const cert = read(paths.cert);
  const key = read(paths.key);
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

/** Warns every day, beginning some days before a certificate expires. */
export class CertificateWatcher implements Disposable {
  readonly end: Date;
  readonly #log: Logger;
  readonly #timer = setInterval(() => this.#look(), DAY_MS);

  constructor(cert: Buffer, log: Logger) {
    this.end = new Date(new X509Certificate(cert).validTo);
    this.#log = log;
    this.#look();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    if (this.end.getTime() - Date.now() > WARNED_DAYS * DAY_MS) return;
    this.#log.warn(
      `the TLS certificate expires on ${this.end.toISOString()}; renew it and restart`,
    );
  }
}
