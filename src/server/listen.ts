/**
 * Listens on an address under Bun and passes requests to a handler. It stops without losing a
 * request. It never reads a body or looks at a route.
 */
import ipaddr from "ipaddr.js";
import { codeOf, reasonOf } from "../files/errors.ts";
import type { FetchHandler } from "../http/app.ts";
import { createTickGuard } from "./connection-storms.ts";
import type { TlsFiles } from "./tls.ts";

export interface Listener {
  /** The scheme, host and port. */
  origin: string;
  /** Handles the requests sent so far, and closes each connection after its response. */
  drain(): Promise<void>;
  /** Closes all connections immediately. */
  close(): Promise<void>;
}

export interface ListenAddress {
  host: string;
  port: number;
  /** Lets other processes listen on the same address. The system distributes the connections. */
  reusePort?: boolean;
  /** The prefix of the host and port flags, for errors that name these flags. */
  flagPrefix?: "--" | "--admin-" | undefined;
}

type Server = Bun.Server<undefined>;

/** On Linux, only root may listen on ports below this one. */
const FIRST_UNPRIVILEGED_PORT = 1024;

/** How many ticks to wait before closing connections. Each tick reads at most 1,024 connections. */
const DRAIN_TICKS = 5;
const DRAIN_TICK_MS = 20;

/** TLS 1.2 ciphers with forward secrecy and authenticated encryption, which TLS 1.3 always has. */
const CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20";

/** Explains to the operator why an address cannot be listened on, and what to do. */
export function listenError(error: unknown, { host, port, flagPrefix }: ListenAddress): Error {
  const code = codeOf(error);
  const advise = (flag: string) => (flagPrefix ? `; choose another with ${flagPrefix}${flag}` : "");
  if (code === "EADDRINUSE") {
    return new Error(`port ${port} on ${host} is already in use${advise("port")}`);
  }
  if (code === "EACCES" && port < FIRST_UNPRIVILEGED_PORT) {
    const rights = "needs root or CAP_NET_BIND_SERVICE, like every port below 1024";
    return new Error(`port ${port} on ${host} ${rights}${advise("port")}`);
  }
  if (code === "EADDRNOTAVAIL") {
    return new Error(`${host} is not an address of this machine${advise("host")}`);
  }
  // Bun has no specific error code for a host name that cannot be resolved.
  if (!ipaddr.isValid(host) && !["EACCES", "EMFILE"].includes(code)) {
    return new Error(`cannot resolve host name ${host}${advise("host")}`);
  }
  return new Error(`cannot listen on ${host} port ${port}: ${reasonOf(error)}`);
}

/** If listening fails, throws an error whose message is for the operator. */
export function listen(
  { host, port, reusePort = false, flagPrefix }: ListenAddress,
  respond: FetchHandler,
  tls?: TlsFiles,
): Listener {
  const waitInStorm = createTickGuard();
  const server = open();

  function open(): Server {
    try {
      return Bun.serve({
        hostname: host,
        port,
        development: false,
        reusePort,
        ...(tls && { tls: { ...tls, ciphers: CIPHERS } }),
        // Large bodies are discarded. Bun's own 413 would lack the JSON body and most headers.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        fetch(request, server) {
          const peer = () => server.requestIP(request)?.address;
          const nextTick = waitInStorm(request, () => server.requestIP(request)?.port);
          return nextTick ? nextTick.then(() => respond(request, peer)) : respond(request, peer);
        },
      });
    } catch (error) {
      throw listenError(error, { host, port, flagPrefix });
    }
  }

  return {
    origin: server.url.origin,
    async drain() {
      // Closing now would reset connections whose requests have arrived but have not been read yet.
      for (let tick = 0; tick < DRAIN_TICKS; tick++) await Bun.sleep(DRAIN_TICK_MS);
      // `stop` also closes idle connections. Its promise is ignored, because it waits for
      // incomplete request heads until Bun's idle timeout. A request is pending until its client
      // has read the response.
      void server.stop();
      do await Bun.sleep(DRAIN_TICK_MS);
      while (server.pendingRequests > 0);
    },
    close: () => server.stop(true),
  };
}
