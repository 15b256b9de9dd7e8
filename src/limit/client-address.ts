/**
 * Identifies the client that made a request, using only the peer's address and X-Forwarded-For.
 * Never throws, even if they are invalid. README.md has the rules.
 */
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/**
 * An address and the number of its leading bits that identify the network. Exported so that the package's
 * declarations name it, instead of the types of ipaddr.js.
 */
export type Cidr = [Address, number];
type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The addresses of the server's own machine. */
export const loopback = ["127.0.0.0/8", "::1/128"].map((text) => ipaddr.parseCIDR(text));

interface ClientsOptions {
  /** Proxies whose X-Forwarded-For is believed. */
  trusted?: readonly Cidr[] | undefined;
  unlimited?: readonly Cidr[] | undefined;
  ipv6Prefix: number;
}

export interface Client {
  /** An IPv4 address, an IPv6 network such as `2001:db8:1:2::/64`, or "unknown". */
  key: string;
  /** The largest network that one customer usually has: an IPv4 address or an IPv6 /48. */
  network: string;
  /** Whether its searches count. */
  isLimited: boolean;
}

/** A client's address, or a proxy's on the way to the server. */
interface Hop extends Pick<Client, "key" | "network"> {
  isTrusted: boolean;
  isUnlimited: boolean;
}

/** Providers give a customer an IPv6 network of at most this size, which has 65,536 of 64 bits. */
const CUSTOMER_BITS = 48;
/** Anybody behind a trusted proxy can send longer texts, of up to 16 KB. An IPv6 address has up to 45. */
const MAX_KEPT_LENGTH = 64;
/** Stands for all clients without an address. */
const UNKNOWN: Client = { key: "unknown", network: "unknown", isLimited: true };

export type Clients = ReturnType<typeof createClients>;

/**
 * Below, `peer` is the address at the other end of the connection, if it is known, and `forwardedFor` is
 * the X-Forwarded-For header, with multiple lines joined by commas.
 */
export function createClients({ trusted = [], unlimited = [], ipv6Prefix }: ClientsOptions) {
  /** Keeps addresses that were read. False stands for a text that is not an address. */
  const hops = new LRUCache<string, Hop | false>({ max: 4096, memoMethod: readHop });

  /** Reads an address as proxies write it: `1.2.3.4:567`, `[::1]:80`, `fe80::1%eth0`. */
  function readHop(text: string): Hop | false {
    const [, host = text] = /^\[(.*)\](?::\d+)?$/.exec(text) ?? /^([\d.]+):\d+$/.exec(text) ?? [];
    const bare = host.replace(/%.*/, "");
    if (!isAddress(bare)) return false;

    // Unwraps IPv4-mapped IPv6.
    const address = ipaddr.process(bare);
    return {
      key: networkOf(address, ipv6Prefix),
      // No client may belong to several networks.
      network: networkOf(address, Math.min(CUSTOMER_BITS, ipv6Prefix)),
      isTrusted: isIn(address, trusted),
      isUnlimited: isIn(address, unlimited),
    };
  }

  /** Returns undefined if `text` is not an address. */
  const findHop = (text = "") =>
    (text.length > MAX_KEPT_LENGTH ? readHop(text) : hops.memo(text)) || undefined;
  const trusts = (peer: string | undefined): boolean => findHop(peer)?.isTrusted === true;

  function findClient(peer: string | undefined, forwardedFor: string | null): Hop | undefined {
    let hop = findHop(peer);
    const entries = hop?.isTrusted ? (forwardedFor ?? "").split(/[\s,]+/).filter(Boolean) : [];
    while (hop?.isTrusted) {
      const previous = findHop(entries.pop());
      if (previous === undefined) break;
      hop = previous;
    }
    return hop;
  }

  return {
    trustsAny: trusted.length > 0,
    trusts,
    clientOf(peer: string | undefined, forwardedFor: string | null): Client {
      const hop = findClient(peer, forwardedFor);
      if (!hop) return UNKNOWN;

      const { key, network, isUnlimited } = hop;
      // All clients of an untrusted proxy have its address, which can be one of this machine.
      const isLimited = !isUnlimited || (forwardedFor !== null && !trusts(peer));
      return { key, network, isLimited };
    },
  };
}

/** Unlike ipaddr.js, takes neither `1` nor `0x7f.1` for an address. */
export function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/** Returns an IPv4 address itself, or the network of `bits` bits of an IPv6 address. */
function networkOf(address: Address, bits: number): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${bits}`)}/${bits}`;
}

function isIn(address: Address, networks: readonly Cidr[]): boolean {
  return ipaddr.subnetMatch(address, { in: [...networks] }, "out") === "in";
}

/** Parses a network, such as `10.0.0.0/8` or `2001:db8::/32`, or a single address. */
export function parseCidr(text: string): Cidr | undefined {
  const [host = ""] = text.split("/");
  const cidr = host === text ? `${host}/${host.includes(":") ? 128 : 32}` : text;
  if (!isAddress(host) || !ipaddr.isValidCIDR(cidr)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(cidr);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits];
}
