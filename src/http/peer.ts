/**
 * Finds the address that a request came from in the second argument of a fetch handler. The
 * runtimes pass different arguments. Nothing here throws, whatever the argument is.
 */

/** A function is called only when the address is needed. */
export type Peer = string | (() => string | undefined) | undefined;

/** The second argument of a fetch handler, by runtime. */
interface RuntimeInfo {
  /** Bun's server. */
  requestIP?: unknown;
  /** Deno's info. */
  remoteAddr?: { hostname?: unknown };
  /** The env of Hono on Node. */
  incoming?: { socket?: { remoteAddress?: unknown } };
}

/**
 * The peer of `request`. `from` is an address, a function that returns one, or the argument of a
 * runtime. Any other value means that there is no peer. A function that finds no address makes all
 * its clients count as one.
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
