/**
 * Listens on an address under Bun and passes requests on. It renews the certificate without a pause
 * and stops without losing a request. It never reads a body or knows a route.
 */
import ipaddr from "ipaddr.js";
import { codeOf, reasonOf } from "../files/errors.ts";
import type { FetchHandler } from "../http/app.ts";
import { createTickGuard } from "./connection-storms.ts";
import type { TlsFiles } from "./tls.ts";

export interface Listener {
  /** Scheme, host and port. */
  origin: string;
  /**
   * Uses another certificate for new connections. Finishes requests in progress and closes idle
   * connections. If the certificate is invalid or the address cannot be opened a second time, it
   * throws and goes on with the old certificate.
   */
  renewTls(tls: TlsFiles): void;
  /** Reads the requests sent so far, and closes each connection after its response. */
  drain(): Promise<void>;
  /** Closes everything at once. */
  close(): Promise<void>;
}

export interface ListenAddress {
  host: string;
  port: number;
  /** Lets other processes listen there too. The system distributes the connections. */
  reusePort?: boolean;
  /** The prefix of the flags for host and port, which errors then name. */
  flagPrefix?: "--" | "--admin-" | undefined;
}

type Server = Bun.Server<undefined>;

/** On Linux, only root may listen on lower ports. */
const FIRST_UNPRIVILEGED_PORT = 1024;

/** How many ticks to wait before closing connections. One tick reads at most 1,024 of them. */
const DRAIN_TICKS = 5;
const DRAIN_TICK_MS = 20;

/**
 * The ciphers of TLS 1.2 with forward secrecy and authenticated encryption. TLS 1.3 has no others.
 */
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
  // Bun has no particular code for a name that cannot be resolved.
  if (!ipaddr.isValid(host) && !["EACCES", "EMFILE"].includes(code)) {
    return new Error(`cannot resolve host name ${host}${advise("host")}`);
  }
  return new Error(`cannot listen on ${host} port ${port}: ${reasonOf(error)}`);
}

/** Throws an error whose message is for the operator. */
export function listen(
  { host, port, reusePort = false, flagPrefix }: ListenAddress,
  respond: FetchHandler,
  tls?: TlsFiles,
): Listener {
  const waitInStorm = createTickGuard();

  function open(at: ListenAddress, files: TlsFiles | undefined): Server {
    try {
      return Bun.serve({
        hostname: at.host,
        port: at.port,
        development: false,
        reusePort: at.reusePort ?? false,
        ...(files && { tls: { ...files, ciphers: CIPHERS } }),
        // Bodies are discarded. Bun's own 413 would lack the JSON body and most headers.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        fetch(request, server) {
          const peer = () => server.requestIP(request)?.address;
          const nextTick = waitInStorm(request, () => server.requestIP(request)?.port);
          return nextTick ? nextTick.then(() => respond(request, peer)) : respond(request, peer);
        },
      });
    } catch (error) {
      throw listenError(error, at);
    }
  }

  const address: ListenAddress = { host, port, reusePort, flagPrefix };
  let server = open(address, tls);
  const { origin } = server.url;
  address.port = server.port ?? port;
  if (tls && !reusePort) {
    // A renewed certificate needs a second listener on this port, so the port is reopened as
    // shared. The first listener has shown that no other process uses it.
    server.stop(true);
    address.reusePort = true;
    server = open(address, tls);
  }
  /** Listeners with a former certificate whose connections are still open. */
  const former = new Set<Server>();
  const servers = () => [...former, server];

  return {
    origin,
    renewTls(files) {
      // Bun cannot change the certificate of a running server.
      const next = open(address, files);
      const last = server;
      server = next;
      former.add(last);
      void last.stop().then(() => former.delete(last));
    },
    async drain() {
      // Closing now would reset connections whose requests have arrived but are not read yet.
      for (let tick = 0; tick < DRAIN_TICKS; tick++) await Bun.sleep(DRAIN_TICK_MS);
      // `stop` also closes idle connections. Its promise waits for incomplete request heads until
      // Bun's idle timeout. A request is pending until its client has read the response.
      for (const each of servers()) void each.stop();
      do await Bun.sleep(DRAIN_TICK_MS);
      while (servers().some(({ pendingRequests }) => pendingRequests > 0));
    },
    async close() {
      await Promise.all(servers().map((each) => each.stop(true)));
    },
  };
}
