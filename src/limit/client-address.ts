/**
 * Identifies the client that made a request, using only the peer's address and X-Forwarded-For.
 * Never throws, even if they are invalid. README.md has the rules.
 */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

interface Hop {
  key: string;
  trusted: boolean;
  unlimited: boolean;
}

/** RFC 6052: the last 32 bits of a NAT64 address are an IPv4 address. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/** The cache is cleared when it has this many hops, which take about 1 MB. */
const MAX_CACHED_HOPS = 4096;

export type Cidr = [Address, number];

export type Clients = ReturnType<typeof createClients>;

interface ClientOptions {
  /** The addresses and networks of trusted proxies. */
  trusted?: Cidr[] | undefined;
  /** The addresses and networks of clients that are not counted. */
  unlimited?: Cidr[] | undefined;
  /** The number of leading bits, 0 to 128, that identify an IPv6 client. */
  ipv6Prefix: number;
}

/**
 * In the functions returned, `peer` is the address at the other end of the connection, if it is
 * known, and `forwardedFor` is the X-Forwarded-For header, with multiple lines joined by commas.
 */
export function createClients({ trusted = [], unlimited = [], ipv6Prefix }: ClientOptions) {
  const cache = new Map<string, Hop | undefined>();

  /** Returns undefined if `text` is not an address. */
  function findHop(text: string | undefined): Hop | undefined {
    if (text === undefined) return undefined;
    if (cache.has(text)) return cache.get(text);
    const address = parseHop(text);
    const hop = address && {
      key: formatKey(address, ipv6Prefix),
      trusted: isIn(trusted, address),
      unlimited: isIn(unlimited, address),
    };
    if (cache.size >= MAX_CACHED_HOPS) cache.clear();
    cache.set(text, hop);
    return hop;
  }

  function findClient(peer: string | undefined, forwardedFor: string | null): Hop | undefined {
    let hop = findHop(peer);
    let rest = forwardedFor ?? "";
    while (hop?.trusted && rest !== "") {
      const comma = rest.lastIndexOf(",");
      const entry = rest.slice(comma + 1).trim();
      rest = rest.slice(0, Math.max(comma, 0));
      // RFC 9110, 5.6.1: empty list elements are ignored.
      if (entry === "") continue;
      const previous = findHop(entry);
      if (previous === undefined) break;
      hop = previous;
    }
    return hop;
  }

  return {
    /**
     * Returns the key under which to count a client: an IPv4 address, an IPv6 network such as
     * `2001:db8:1:2::/64`, or "unknown" if the peer has no address. An IPv4 peer is not parsed if
     * there are no trusted proxies.
     */
    keyOf(peer: string | undefined, forwardedFor: string | null): string {
      if (trusted.length === 0 && peer?.includes(":") === false) return peer;
      return findClient(peer, forwardedFor)?.key ?? "unknown";
    },
    /**
     * Whether the client's address is one of those that are not counted. Never true behind an
     * untrusted proxy, because all clients of that proxy have its address.
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

/**
 * Parses a network, such as `10.0.0.0/8` or `2001:db8::/32`, or a single address. Returns the
 * address and the prefix length, or undefined. Converts an IPv4-mapped IPv6 network to IPv4.
 */
export function parseCidr(text: string): Cidr | undefined {
  const [, host = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseAddress(host);
  const max = host.includes(":") ? 128 : 32;
  const bits = Number(length ?? max);
  if (address === undefined || bits > max) return undefined;
  if (max === 32 || address.kind() === "ipv6") return [address, bits];
  return bits < 96 ? undefined : [address, bits - 96];
}

function isIn(networks: Cidr[], address: Address): boolean {
  return ipaddr.subnetMatch(address, { in: networks }, "out") === "in";
}

function formatKey(address: Address, ipv6Prefix: number): string {
  if (address.kind() === "ipv4") return address.toString();
  // A NAT64 address is counted as the IPv4 address inside, but never trusted as that address,
  // because a client could choose any IPv4 address to put inside.
  if (address.match(NAT64)) return ipaddr.fromByteArray(address.toByteArray().slice(12)).toString();
  const bytes = address.toByteArray().map((byte, i) => {
    const bits = Math.min(Math.max(ipv6Prefix - 8 * i, 0), 8);
    return byte & (0xff << (8 - bits));
  });
  return `${ipaddr.fromByteArray(bytes)}/${ipv6Prefix}`;
}

/** Parses an address as proxies write it: `1.2.3.4:567`, `[::1]:80`, `"[::1]"`, `fe80::1%eth0`. */
function parseHop(text: string): Address | undefined {
  const bare = /^"(.*)"$/.exec(text)?.[1] ?? text;
  const host = /^\[([^[\]]*)\](?::\d{1,5})?$/.exec(bare) ?? /^([\d.]+):\d{1,5}$/.exec(bare);
  return parseAddress((host?.[1] ?? bare).replace(/%[^%]*$/, ""));
}

/**
 * Parses an address, and converts IPv4-mapped IPv6 to IPv4. Stricter than ipaddr.js, which also
 * accepts `1`, `0x7f.1` and `010.0.0.1`.
 */
function parseAddress(text: string): Address | undefined {
  const isAddress =
    ipaddr.IPv4.isValidFourPartDecimal(text) ||
    (/^[\da-f:.]+$/i.test(text) && ipaddr.IPv6.isValid(text));
  return isAddress ? ipaddr.process(text) : undefined;
}
