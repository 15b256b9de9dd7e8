/**
 * Owns who a request is counted under: the peer, or who it speaks for behind trusted proxies.
 * Never looks at anything but the peer's address and X-Forwarded-For, and never throws on either.
 */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

interface Hop {
  key: string;
  trusted: boolean;
  isLoopback: boolean;
}

/** The longest way to write an address with brackets, zone and port stays below. */
const MAX_HOP_LENGTH = 80;

/** Longer than any chain of proxies. 256 KB of addresses that are all trusted take 100 ms to parse. */
const MAX_HOPS = 100;

/** RFC 6052: an IPv4 address in the last 32 bits. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/** At most this many parsed hops are cached, some 1 MB; then all are dropped. */
const MAX_CACHED_HOPS = 4096;

export type Clients = ReturnType<typeof createClients>;

/**
 * @param trusted the proxies whose X-Forwarded-For is believed; see {@link parseCidr}
 * @param ipv6Prefix IPv6 clients are one by so many leading bits, 0 to 128; a household has a /64
 */
export function createClients({
  trusted,
  ipv6Prefix,
}: {
  trusted: readonly string[];
  ipv6Prefix: number;
}) {
  const proxies = trusted.map(parseCidr);
  const cache = new Map<string, Hop | undefined>();

  /** Undefined for what is no address. */
  function findHop(text: string | undefined): Hop | undefined {
    if (text === undefined || text.length > MAX_HOP_LENGTH) return undefined;
    const cached = cache.get(text);
    if (cached !== undefined || cache.has(text)) return cached;
    const address = parseHop(text);
    const hop = address && {
      key: formatKey(address, ipv6Prefix),
      trusted: ipaddr.subnetMatch(address, { proxy: proxies }, "other") === "proxy",
      isLoopback: address.range() === "loopback",
    };
    if (cache.size >= MAX_CACHED_HOPS) cache.clear();
    cache.set(text, hop);
    return hop;
  }

  function findClient(peer: string | undefined, forwardedFor: string | null): Hop | undefined {
    let hop = findHop(peer);
    let rest = forwardedFor ?? "";
    for (let hops = 0; hop?.trusted && rest !== "" && hops < MAX_HOPS; hops++) {
      const comma = rest.lastIndexOf(",");
      const entry = rest.slice(comma + 1).trim();
      rest = rest.slice(0, Math.max(comma, 0));
      // RFC 9110, 5.6.1: empty elements of a list do not count.
      if (entry === "") continue;
      const before = findHop(entry);
      if (before === undefined) break;
      hop = before;
    }
    return hop;
  }

  return {
    /**
     * The key of a client: an IPv4 address, or an IPv6 network such as `2001:db8:1:2::/64`. All
     * requests whose peer has no address share one.
     *
     * X-Forwarded-For is read from the right, as each proxy appends whom it got the request from, and
     * only while the hop that wrote an entry is trusted. The first address that is not trusted is the
     * client; if all are, the leftmost. An entry that is no address ends the reading: the request is
     * counted under the hop that passed it on, so junk shares a budget and never gets a new one; so is
     * a request with more than 100 entries from trusted hops.
     * An address of NAT64's well-known prefix is counted as the IPv4 address inside.
     * IPv4 peers cost nothing when no proxy is trusted; other addresses are parsed once, then cached.
     *
     * @param peer address at the other end of the connection, undefined if there is none to know
     * @param forwardedFor the X-Forwarded-For header, several lines joined by commas
     */
    keyOf(peer: string | undefined, forwardedFor: string | null): string {
      if (proxies.length === 0 && peer?.includes(":") === false) return peer;
      return findClient(peer, forwardedFor)?.key ?? "unknown";
    },
    /** Whether the client is on this machine, and not behind a proxy here that is not trusted. */
    isLocal(peer: string | undefined, forwardedFor: string | null): boolean {
      if (forwardedFor !== null && !findHop(peer)?.trusted) return false;
      return findClient(peer, forwardedFor)?.isLoopback ?? false;
    },
    /** Whether any proxy is. */
    trustsAny: proxies.length > 0,
    /** Whether the peer is a proxy that is believed. */
    trusts: (peer: string | undefined) => findHop(peer)?.trusted === true,
  };
}

/**
 * `10.0.0.0/8`, `2001:db8::/32`, or a single address: the address and how many bits of it count.
 * Networks of IPv4-mapped IPv6 are IPv4's.
 *
 * @throws RangeError for anything else.
 */
export function parseCidr(text: string): [Address, number] {
  const [, host = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseAddress(host);
  const max = host.includes(":") ? 128 : 32;
  const bits = Number(length ?? max);
  if (address === undefined || bits > max) {
    throw new RangeError(
      `"${text}" is neither a CIDR, such as 10.0.0.0/8 or 2001:db8::/32, nor an address`,
    );
  }
  if (max === 32 || address.kind() === "ipv6") return [address, bits];
  if (bits < 96) throw new RangeError(`"${text}" is wider than IPv4: write it as IPv4`);
  return [address, bits - 96];
}

function formatKey(address: Address, ipv6Prefix: number): string {
  if (address.kind() === "ipv4") return address.toString();
  // Only for counting: an address that a client can write is never a trusted proxy's IPv4 address.
  if (address.match(NAT64)) return ipaddr.fromByteArray(address.toByteArray().slice(12)).toString();
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
  return parseAddress((host?.[1] ?? bare).replace(/%[^%]*$/, ""));
}

/** IPv4-mapped IPv6 is IPv4. Stricter than ipaddr.js, which also reads `1`, `0x7f.1` and `010.0.0.1`. */
function parseAddress(text: string): Address | undefined {
  const isAddress =
    ipaddr.IPv4.isValidFourPartDecimal(text) ||
    (/^[\da-f:.]+$/i.test(text) && ipaddr.IPv6.isValid(text));
  return isAddress ? ipaddr.process(text) : undefined;
}
