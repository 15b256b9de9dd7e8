/**
 * Listens on an address and hands requests on; renews the certificate without a pause and stops
 * without losing a request. Nothing here reads a body or knows a route.
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
   * Gives new connections another certificate. Requests under way are responded to; connections on
   * which nothing is under way are closed. Throws, and listens with the old one as before, when the
   * certificate is bad or the address cannot be opened a second time.
   */
  renewTls(tls: TlsFiles): void;
  /** Takes in what clients have sent so far, then closes each connection when it is responded to. */
  drain(): Promise<void>;
  /** Closes everything at once. */
  close(): Promise<void>;
}

export interface Address {
  host: string;
  port: number;
  /** Other processes may listen there, too; the system divides the connections. */
  reusePort?: boolean;
  /** How the flags begin that choose host and port, for errors that name them. */
  flagPrefix?: "--" | "--admin-" | undefined;
}

type Server = Bun.Server<undefined>;

/** Linux lets nobody but root listen on the ports below. */
const FIRST_FREE_PORT = 1024;

/** The event loop's ticks before connections are closed: one reads at most 1,024 of them. */
const DRAIN_TICKS = 5;
const DRAIN_TICK_MS = 20;

/** Of TLS 1.2 what has forward secrecy and authenticated encryption; all of TLS 1.3 has both. */
const CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20";

/** Why the system lets nobody listen on an address, and what to do, for the operator. */
export function listenError(error: unknown, { host, port, flagPrefix }: Address): Error {
  const code = codeOf(error);
  const choose = (flag: string) => (flagPrefix ? `; choose another with ${flagPrefix}${flag}` : "");
  if (code === "EADDRINUSE") {
    return new Error(`port ${port} on ${host} is already in use${choose("port")}`);
  }
  if (code === "EACCES" && port < FIRST_FREE_PORT) {
    const rights = "needs root or CAP_NET_BIND_SERVICE, as all ports below 1024 do";
    return new Error(`port ${port} on ${host} ${rights}${choose("port")}`);
  }
  if (code === "EADDRNOTAVAIL") {
    return new Error(`${host} is not an address of this machine${choose("host")}`);
  }
  // For a name without an address, Bun's code is arbitrary.
  if (!ipaddr.isValid(host) && !["EACCES", "EMFILE"].includes(code)) {
    return new Error(`cannot resolve host name ${host}${choose("host")}`);
  }
  return new Error(`cannot listen on ${host} port ${port}: ${reasonOf(error)}`);
}

/** Throws an error whose message is for the operator. */
export function listen(
  { host, port, reusePort = false, flagPrefix }: Address,
  respond: FetchHandler,
  tls?: TlsFiles,
): Listener {
  const waitInStorm = createTickGuard();

  function open(at: Address, files: TlsFiles | undefined): Server {
    try {
      return Bun.serve({
        hostname: at.host,
        port: at.port,
        development: false,
        reusePort: at.reusePort ?? false,
        ...(files && { tls: { ...files, ciphers: CIPHERS } }),
        // A body is read past and kept nowhere; Bun's own 413 would have no body and few headers.
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

  const address: Address = { host, port, reusePort, flagPrefix };
  let server = open(address, tls);
  const { origin } = server.url;
  address.port = server.port ?? port;
  if (tls && !reusePort) {
    // A renewed certificate needs a second listener on this port. The first attempt without sharing has
    // shown that no other process listens here.
    server.stop(true);
    address.reusePort = true;
    server = open(address, tls);
  }
  /** Listeners with a former certificate, until their connections are closed. */
  const former = new Set<Server>();
  const servers = () => [...former, server];

  return {
    origin,
    renewTls(files) {
      // Bun has no way to change the certificate of a server.
      const next = open(address, files);
      const last = server;
      server = next;
      former.add(last);
      void last.stop().then(() => former.delete(last));
    },
    async drain() {
      // Closing at once would reset connections whose requests are received but not read yet.
      for (let tick = 0; tick < DRAIN_TICKS; tick++) await Bun.sleep(DRAIN_TICK_MS);
      // Closes idle connections, too. Its promise would also wait for half a request head, until Bun's
      // idle timeout. A request is pending until its client has read the response.
      for (const one of servers()) void one.stop();
      do await Bun.sleep(DRAIN_TICK_MS);
      while (servers().some(({ pendingRequests }) => pendingRequests > 0));
    },
    async close() {
      await Promise.all(servers().map((one) => one.stop(true)));
    },
  };
}
