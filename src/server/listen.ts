/**
 * Listens on an address under Bun and passes requests to a handler. It stops without losing a
 * request. It never reads a body or looks at a route.
 */
import type { FetchHandler } from "../http/app.ts";
import type { TlsFiles } from "./tls.ts";
import { createTurns } from "./turns.ts";

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

/** How many ticks to wait before closing connections. Each tick reads at most 1,024 connections. */
const DRAIN_TICKS = 5;
const DRAIN_TICK_MS = 20;

/** TLS 1.2 ciphers with forward secrecy and authenticated encryption, which TLS 1.3 always has. */
const CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20";

/** Throws if listening fails; see `open.ts`. */
export function listen(
  { host, port, reusePort = false }: ListenAddress,
  respond: FetchHandler,
  tls?: TlsFiles,
): Listener {
  const inTurn = createTurns();
  const server = Bun.serve({
    hostname: host,
    port,
    development: false,
    reusePort,
    ...(tls && { tls: { ...tls, ciphers: CIPHERS } }),
    // Large bodies are discarded. Bun's own 413 would lack the JSON body and most headers.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch(request, server) {
      const peer = () => server.requestIP(request)?.address;
      return inTurn(() => respond(request, peer));
    },
  });

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
