/**
 * Finds the address that a request came from. Each runtime passes the address differently, in the
 * second argument of the fetch handler. Nothing here throws, whatever the argument is.
 */

/** An address, or a function that is called only when the address is needed. */
export type Peer = string | (() => string | undefined) | undefined;

/** The second argument of a fetch handler, by runtime. */
interface RuntimeInfo {
  /** Set if the runtime is Bun, which passes its server. */
  requestIP?: unknown;
  /** Set if the runtime is Deno, which passes an info object. */
  remoteAddr?: { hostname?: unknown };
  /** Set by Hono on Node, which passes its env. */
  incoming?: { socket?: { remoteAddress?: unknown } };
}

/**
 * The peer of `request`. `from` is an address, a function that returns an address, or the argument
 * that a runtime passes. Any other value means that there is no peer. All requests for which a
 * function finds no address are treated as one client.
 */
export function peerOf(request: Request, from: unknown): Peer {
  if (typeof from === "string") return from || undefined;
  const find = typeof from === "function" ? () => from() : finderOf(request, from);
  return find && (() => addressFrom(find));
}

function finderOf(request: Request, from: unknown): (() => unknown) | undefined {
  if (typeof from !== "object" || from === null) return undefined;
  try {
    const info: RuntimeInfo = from;
    const { requestIP, remoteAddr, incoming } = info;
    if (typeof requestIP === "function") return () => requestIP.call(from, request)?.address;
    if (remoteAddr) return () => remoteAddr.hostname;
    return incoming && (() => incoming.socket?.remoteAddress);
  } catch {
    return undefined;
  }
}

function addressFrom(find: () => unknown): string | undefined {
  try {
    const address = find();
    return typeof address === "string" && address !== "" ? address : undefined;
  } catch {
    return undefined;
  }
}
