/**
 * Owns who a request is counted under: the peer, or who it speaks for behind trusted proxies.
 * Never looks at anything but the peer's address and X-Forwarded-For, and never throws on either.
 */
import ipaddr from "ipaddr.js";

export interface ClientsOptions {
  /** The proxies whose X-Forwarded-For is believed; see {@link parseCidr}. */
  trusted: readonly string[];
  /** IPv6 clients are one by so many leading bits: 0 to 128. A household or a server has a /64. */
  ipv6Prefix: number;
}

export interface Clients {
  /**
   * The key of a client: an IPv4 address, or an IPv6 network such as `2001:db8:1:2::/64`.
   *
   * X-Forwarded-For is read from the right, as each proxy appends whom it got the request from, and
   * only while the hop that wrote an entry is trusted. The first address that is not trusted is the
   * client; if all are, the leftmost. An entry that is no address ends the reading: the request is
   * counted under the hop that passed it on, so junk shares a budget and never gets a new one; so is
   * a request with more than 100 entries from trusted hops.
   * IPv4 peers cost nothing when no proxy is trusted; other addresses are parsed once, then cached.
   *
   * @param peer address at the other end of the connection, undefined if there is none to know
   * @param forwardedFor the X-Forwarded-For header, several lines joined by commas
   */
  keyOf(peer: string | undefined, forwardedFor: string | null): string;
  /** Whether any proxy is. */
  trustsAny: boolean;
  /** Whether the peer is a proxy that is believed. */
  trusts(peer: string | undefined): boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface Cidr {
  address: Address;
  bits: number;
}

interface Hop {
  key: string;
  trusted: boolean;
}

/** All requests whose peer has no address share one budget. */
const UNKNOWN_CLIENT = "unknown";

/** The longest way to write an address with brackets, zone and port stays below. */
const MAX_HOP_LENGTH = 80;

/** Longer than any chain of proxies. 256 KB of addresses that are all trusted take 100 ms to parse. */
const MAX_HOPS = 100;

/** At most this many parsed hops are cached, some 1 MB; then all are dropped. */
const MAX_CACHED_HOPS = 4096;

/** @throws RangeError for a bad CIDR or prefix. */
export function createClients({ trusted, ipv6Prefix }: ClientsOptions): Clients {
  if (!Number.isInteger(ipv6Prefix) || ipv6Prefix < 0 || ipv6Prefix > 128) {
    throw new RangeError(`an IPv6 prefix is a whole number from 0 to 128, not ${ipv6Prefix}`);
  }
  const proxies = trusted.map(parseCidr);
  const cache = new Map<string, Hop | undefined>();

  function findHop(text: string): Hop | undefined {
    if (text.length > MAX_HOP_LENGTH) return undefined;
    const cached = cache.get(text);
    if (cached !== undefined || cache.has(text)) return cached;
    const address = parseHop(text);
    const hop = address && {
      key: formatKey(address, ipv6Prefix),
      trusted: proxies.some((proxy) => contains(proxy, address)),
    };
    if (cache.size >= MAX_CACHED_HOPS) cache.clear();
    cache.set(text, hop);
    return hop;
  }

  function keyOf(peer: string | undefined, forwardedFor: string | null): string {
    if (peer === undefined) return UNKNOWN_CLIENT;
    if (proxies.length === 0 && !peer.includes(":")) return peer;
    let hop = findHop(peer);
    if (hop === undefined) return UNKNOWN_CLIENT;
    let end = forwardedFor === null ? 0 : forwardedFor.length;
    for (let hops = 0; forwardedFor !== null && hop.trusted && end > 0; hops++) {
      if (hops === MAX_HOPS) break;
      const start = forwardedFor.lastIndexOf(",", end - 1) + 1;
      const entry = forwardedFor.slice(start, end).trim();
      end = start - 1;
      // RFC 9110, 5.6.1: empty elements of a list do not count.
      if (entry === "") continue;
      const before = findHop(entry);
      if (before === undefined) break;
      hop = before;
    }
    return hop.key;
  }

  return {
    keyOf,
    trustsAny: proxies.length > 0,
    trusts: (peer) => peer !== undefined && findHop(peer)?.trusted === true,
  };
}

/**
 * `10.0.0.0/8`, `2001:db8::/32`, or a single address. Networks of IPv4-mapped IPv6 are IPv4's.
 *
 * @throws RangeError for anything else.
 */
export function parseCidr(text: string): Cidr {
  const [, host = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const parsed = parseAddress(host);
  const max = parsed?.kind() === "ipv4" ? 32 : 128;
  const bits = length === undefined ? max : Number(length);
  if (parsed === undefined || bits > max) {
    throw new RangeError(
      `"${text}" is neither a CIDR, such as 10.0.0.0/8 or 2001:db8::/32, nor an address`,
    );
  }
  const address = unmap(parsed);
  if (address === parsed) return { address, bits };
  if (bits < 96) throw new RangeError(`"${text}" is wider than IPv4: write it as IPv4`);
  return { address, bits: bits - 96 };
}

function contains({ address, bits }: Cidr, other: Address): boolean {
  return address.kind() === other.kind() && other.match(address, bits);
}

function formatKey(address: Address, ipv6Prefix: number): string {
  if (address.kind() === "ipv4") return address.toString();
  const bytes = address.toByteArray().map((byte, i) => {
    const bits = Math.min(Math.max(ipv6Prefix - 8 * i, 0), 8);
    return byte & (0xff << (8 - bits));
  });
  return `${ipaddr.fromByteArray(bytes)}/${ipv6Prefix}`;
}

/** An address as proxies write it: `1.2.3.4:567`, `[::1]:80`, `"[::1]"`, `fe80::1%eth0`. */
function parseHop(text: string): Address | undefined {
  const bare = /^"(.*)"$/.exec(text)?.[1] ?? text;
  const host = /^\[([^[\]]*)\](?::\d{1,5})?$/.exec(bare) ?? /^([\d.]+):\d{1,5}$/.exec(bare);
  const address = parseAddress((host?.[1] ?? bare).replace(/%[^%]*$/, ""));
  return address && unmap(address);
}

/** Stricter than ipaddr.js, which also reads `1`, `0x7f.1` and `010.0.0.1`. */
function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!/^[\da-f:.]+$/i.test(text) || !ipaddr.IPv6.isValid(text)) return undefined;
  return ipaddr.IPv6.parse(text);
}

function unmap(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;
}
