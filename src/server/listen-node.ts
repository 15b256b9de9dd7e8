/** The equivalent of listen.ts for Node, with the same guarantees. */
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { FetchHandler } from "../http/app.ts";
import type { ListenAddress, Listener } from "./listen.ts";
import { createNodeListener } from "./node-listener.ts";
import type { TlsFiles } from "./tls.ts";

/** How often a stopping server closes connections that have become idle. */
const DRAIN_MS = 20;

export async function listenOnNode(
  { host, port, reusePort = false }: ListenAddress,
  respond: FetchHandler,
  tls?: TlsFiles,
): Promise<Listener> {
  const listener = createNodeListener(respond);
  const server = tls ? createHttpsServer(tls, listener) : createHttpServer(listener);
  const opened = Promise.withResolvers<void>();
  server.once("error", opened.reject);
  server.listen({ host, port, reusePort }, opened.resolve);
  await opened.promise;
  const closed = Promise.withResolvers<void>();
  server.once("close", closed.resolve);
  const { port: actualPort } = server.address() as AddressInfo;
  const scheme = tls ? "https" : "http";
  return {
    origin: `${scheme}://${host.includes(":") ? `[${host}]` : host}:${actualPort}`,
    async drain() {
      // Stops listening and closes connections that are already idle.
      server.close();
      for (let isOpen = true; isOpen; ) {
        isOpen = await Promise.race([closed.promise.then(() => false), setTimeout(DRAIN_MS, true)]);
        server.closeIdleConnections();
      }
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await closed.promise;
    },
  };
}
