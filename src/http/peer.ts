/** The peer of a request: the address at the other end of its connection, on any runtime. */

/** An address, or a function that is called only when the address is needed. */
export type Peer = string | (() => string | undefined) | undefined;

/** Requests whose peer is a function that finds no address all count as one client. */
export function addressOf(peer: Peer): string | undefined {
  try {
    const address: unknown = typeof peer === "function" ? peer() : peer;
    return typeof address === "string" && address !== "" ? address : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The peer of `request`. `from` is an address, a function that returns one, or the argument that a
 * runtime passes. With anything else there is no peer. Never throws, whatever `from` is.
 */
export function peerOf(request: Request, from: unknown): Peer {
  if (typeof from === "string") return from || undefined;
  if (typeof from === "function") return () => from();
  try {
    const { requestIP, remoteAddr, incoming } = Object(from);
    // Bun passes its server, Deno an info object, and Hono on Node its env.
    if (typeof requestIP === "function") return () => requestIP.call(from, request)?.address;
    if (remoteAddr) return () => remoteAddr.hostname;
    return incoming ? () => incoming.socket?.remoteAddress : undefined;
  } catch {
    return undefined;
  }
}
