/** Reads the files of TLS, also when they have changed, and warns before the certificate expires. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import type { Logger } from "pino";
import { reasonOf } from "../files/errors.ts";

const DAY_MS = 86_400_000;
const WARNED_DAYS = 14;
/** How often to look whether a file has changed. */
const LOOK_MS = 1000;

/** A certificate and its private key, both in PEM format. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

type Paths = Record<keyof Certificate, string>;

/** If the files cannot be used, throws an error whose message is for the operator. */
function readTls(paths: Paths): Certificate {
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

/** The certificate of a server. The files are expected to change together. */
export class CertificateWatcher implements Disposable {
  tls: Certificate;
  readonly #paths: Paths;
  readonly #log: Logger;
  readonly #timer = setInterval(() => this.#warn(), DAY_MS);
  #onRenewal: ((tls: Certificate) => void) | undefined;

  /** If the files cannot be used, throws an error whose message is for the operator. */
  constructor(paths: Paths, log: Logger) {
    this.tls = readTls(paths);
    this.#paths = paths;
    this.#log = log;
    this.#warn();
  }

  expiry(): Date {
    return new Date(new X509Certificate(this.tls.cert).validTo);
  }

  /** From now on, calls `onRenewal` with each certificate that replaces the one before. */
  watch(onRenewal: ((tls: Certificate) => void) | undefined): void {
    this.#onRenewal = onRenewal;
    const options = { interval: LOOK_MS };
    for (const path of Object.values(this.#paths)) watchFile(path, options, this.reload);
  }

  /** Reads the files now. If they cannot be used, the certificate stays. */
  readonly reload = (): void => {
    try {
      const tls = readTls(this.#paths);
      if (tls.cert.equals(this.tls.cert) && tls.key.equals(this.tls.key)) return;
      this.#onRenewal?.(tls);
      this.tls = tls;
      this.#log.info({ expires: this.expiry() }, "serving a new TLS certificate");
      this.#warn();
    } catch (error) {
      this.#log.error(`${reasonOf(error)}; serving the old certificate`);
    }
  };

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const path of Object.values(this.#paths)) unwatchFile(path, this.reload);
  }

  /** Called every day. */
  #warn(): void {
    const expiry = this.expiry();
    if (expiry.getTime() - Date.now() > WARNED_DAYS * DAY_MS) return;
    this.#log.warn(`the TLS certificate expires on ${expiry.toISOString()}; renew it`);
  }
}
