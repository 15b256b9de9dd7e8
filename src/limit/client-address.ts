/**
 * Identifies the client that made a request, using only the peer's address and X-Forwarded-For.
 * Never throws, even if they are invalid. README.md has the rules.
 */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/** An address and the number of its leading bits that identify the network. */
export type Cidr = [Address, number];
type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The addresses of the server's own machine. */
export const loopback = ["127.0.0.0/8", "::1/128"].map((text) => ipaddr.parseCIDR(text));

interface ClientOptions {
  /** Proxies whose X-Forwarded-For is believed. */
  trusted?: Cidr[] | undefined;
  unlimited?: Cidr[] | undefined;
  ipv6Prefix: number;
}

export type Clients = ReturnType<typeof createClients>;

/**
 * In the functions returned, `peer` is the address at the other end of the connection, if it is
 * known, and `forwardedFor` is the X-Forwarded-For header, with multiple lines joined by commas.
 */
export function createClients({ trusted = [], unlimited = [], ipv6Prefix }: ClientOptions) {
  /** Reads an address as proxies write it: `1.2.3.4:567`, `[::1]:80`, `fe80::1%eth0`. */
  function readHop(text: string) {
    const [, host = text] = /^\[(.*)\](?::\d+)?$/.exec(text) ?? /^([\d.]+):\d+$/.exec(text) ?? [];
    const bare = host.replace(/%.*/, "");
    // Without isIP, `1` and `0x7f.1` would be addresses, too.
    if (!isIP(bare)) return false;
    // Unwraps IPv4-mapped IPv6.
    const address = ipaddr.process(bare);
    const isIn = (networks: Cidr[]) =>
      ipaddr.subnetMatch(address, { in: networks }, "out") === "in";
    const network = () => ipaddr.IPv6.networkAddressFromCIDR(`${address}/${ipv6Prefix}`);
    const key = address.kind() === "ipv4" ? `${address}` : `${network()}/${ipv6Prefix}`;
    return { key, trusted: isIn(trusted), unlimited: isIn(unlimited) };
  }
  type Hop = ReturnType<typeof readHop>;
  // Reading an IPv6 address takes 10 µs.
  const hops = new LRUCache<string, Hop>({ max: 4096, memoMethod: readHop });
  /** Returns undefined if `text` is not an address. */
  const findHop = (text = "") => hops.memo(text) || undefined;

  function findClient(peer: string | undefined, forwardedFor: string | null) {
    let hop = findHop(peer);
    const entries = hop?.trusted ? (forwardedFor ?? "").split(/[\s,]+/).filter(Boolean) : [];
    while (hop?.trusted) {
      const previous = findHop(entries.pop());
      if (previous === undefined) break;
      hop = previous;
    }
    return hop;
  }

  return {
    /**
     * Returns the key under which to count a client: an IPv4 address, an IPv6 network such as
     * `2001:db8:1:2::/64`, or "unknown" if the peer has no address.
     */
    keyOf: (peer: string | undefined, forwardedFor: string | null): string =>
      findClient(peer, forwardedFor)?.key ?? "unknown",
    /**
     * Whether the client's address is exempt from the limit. Never true behind an untrusted proxy,
     * because all clients of that proxy have its address.
     */
    isUnlimited(peer: string | undefined, forwardedFor: string | null): boolean {
      if (unlimited.length === 0) return false;
      if (forwardedFor !== null && !findHop(peer)?.trusted) return false;
      return findClient(peer, forwardedFor)?.unlimited ?? false;
    },
    trustsAny: trusted.length > 0,
    trusts: (peer: string | undefined) => findHop(peer)?.trusted === true,
  };
}

/** Parses a network, such as `10.0.0.0/8` or `2001:db8::/32`, or a single address. */
export function parseCidr(text: string): Cidr | undefined {
  const [host = ""] = text.split("/");
  const family = isIP(host);
  const cidr = host === text ? `${host}/${family === 4 ? 32 : 128}` : text;
  if (family === 0 || !ipaddr.isValidCIDR(cidr)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(cidr);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits];
}
