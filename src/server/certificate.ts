/** Reads the files of TLS, also when they have changed, and warns before the certificate expires. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import type { Logger } from "pino";
import { naming, reasonOf } from "../files/errors.ts";

const DAY_MS = 86_400_000;
const WARNED_DAYS = 14;
/** How often to look whether a file has changed. */
const LOOK_MS = 1000;

/** A certificate and its private key, both in PEM format. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

type TlsPaths = Record<keyof Certificate, string>;

/** If the files cannot be used, throws an error whose message is for the operator. */
function readTls(paths: TlsPaths): Certificate {
  const read = (path: string) => naming(path, "read", () => readFileSync(path));
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

/**
 * The certificate of a server. The files are expected to change together. If they cannot be used,
 * throws an error whose message is for the operator.
 */
export function openCertificate(paths: TlsPaths, log: Logger) {
  let tls = readTls(paths);
  let onRenewal: ((tls: Certificate) => void) | undefined;

  const expiry = () => new Date(new X509Certificate(tls.cert).validTo);

  function warn(): void {
    if (expiry().getTime() - Date.now() > WARNED_DAYS * DAY_MS) return;
    log.warn(`the TLS certificate expires on ${expiry().toISOString()}; renew it`);
  }

  /** Reads the files now. If they cannot be used, the certificate stays. */
  function reload(): void {
    try {
      const next = readTls(paths);
      if (next.cert.equals(tls.cert) && next.key.equals(tls.key)) return;
      onRenewal?.(next);
      tls = next;
      log.info({ expires: expiry() }, "serving a new TLS certificate");
      warn();
    } catch (error) {
      log.error(`${reasonOf(error)}; serving the old certificate`);
    }
  }

  warn();
  const timer = setInterval(warn, DAY_MS);
  return {
    tls,
    expiry,
    reload,
    /** From now on, calls `renew` with each certificate that replaces the one before. */
    watch(renew: ((tls: Certificate) => void) | undefined): void {
      onRenewal = renew;
      for (const path of Object.values(paths)) watchFile(path, { interval: LOOK_MS }, reload);
    },
    [Symbol.dispose](): void {
      clearInterval(timer);
      for (const path of Object.values(paths)) unwatchFile(path, reload);
    },
  };
}
