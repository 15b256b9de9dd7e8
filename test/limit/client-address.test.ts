/** A client is identified by its peer address and X-Forwarded-For, as src/limit/README.md says. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createClients, parseCidr } from "../../src/limit/client-address.ts";
import { runs } from "../runs.ts";

type Ends = [peer: string | undefined, forwardedFor: string | null];

const withoutProxies = createClients({ ipv6Prefix: 64 });
const direct = (...ends: Ends) => withoutProxies.clientOf(...ends).key;
const withProxies = createClients({
  trusted: networks("10.0.0.0/8", "fd00::/8", "::1"),
  ipv6Prefix: 64,
});
const proxied = (...ends: Ends) => withProxies.clientOf(...ends).key;

describe("without trusted proxies", () => {
  test.each<[string | undefined, string]>([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::ffff:cb00:7107", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
    ["::1", "::/64"],
    [undefined, "unknown"],
  ])("the peer %p is counted as %p, and its X-Forwarded-For is ignored", (peer, key) => {
    expect(direct(peer, null)).toBe(key);
    expect(direct(peer, "198.51.100.1")).toBe(key);
  });

  test.each([
    [0, "::/0"],
    [32, "2001:db8::/32"],
    [47, "2001:db8:2::/47"],
    [64, "2001:db8:3:47::/64"],
    [128, "2001:db8:3:47::5/128"],
  ])("with an IPv6 prefix of %p bits, the peer is counted as %p", (ipv6Prefix, key) => {
    const clients = createClients({ ipv6Prefix });
    expect(clients.clientOf("2001:db8:3:47::5", null).key).toBe(key);
    expect(clients.clientOf("203.0.113.7", null).key).toBe("203.0.113.7");
  });

  test.each([
    [64, "2001:db8:3:47::5", "2001:db8:3::/48"],
    [64, "2001:db8:3:ffff::", "2001:db8:3::/48"],
    [64, "2001:db8:4::", "2001:db8:4::/48"],
    [32, "2001:db8:3:47::5", "2001:db8::/32"],
    [64, "203.0.113.7", "203.0.113.7"],
    [64, "::ffff:203.0.113.7", "203.0.113.7"],
    [64, undefined, "unknown"],
  ])("with an IPv6 prefix of %p bits, the peer %p is in the network %p", (bits, peer, network) => {
    expect(createClients({ ipv6Prefix: bits }).clientOf(peer, null).network).toBe(network);
    const proxied = createClients({ ipv6Prefix: bits, trusted: networks("10.0.0.0/8") });
    const client = proxied.clientOf("10.0.0.1", peer ?? "");
    expect(client.network).toBe(peer ? network : "10.0.0.1");
  });
});

describe("with the trusted proxies 10.0.0.0/8, fd00::/8 and ::1", () => {
  test.each<[peer: string, forwardedFor: string | null, key: string, why: string]>([
    ["10.0.0.1", null, "10.0.0.1", "without the header, the proxy itself"],
    ["10.0.0.1", "203.0.113.7", "203.0.113.7", "one proxy"],
    ["::ffff:10.0.0.1", "203.0.113.7", "203.0.113.7", "an IPv4-mapped peer"],
    ["::1", "203.0.113.7", "203.0.113.7", "a proxy trusted by its address"],
    ["fd12::1%eth0", "203.0.113.7", "203.0.113.7", "a peer with a zone"],
    ["::2", "203.0.113.7", "::/64", "an untrusted peer in the same /64 as a trusted proxy"],
    ["203.0.113.9", "198.51.100.1", "203.0.113.9", "an untrusted peer"],
    ["10.0.0.1", "203.0.113.7, 10.1.1.1", "203.0.113.7", "two proxies"],
    ["10.0.0.1", "1.1.1.1,203.0.113.7 ,\t10.1.1.1,fd00::1", "203.0.113.7", "white space"],
    ["10.0.0.1", "10.3.3.3, 10.2.2.2", "10.3.3.3", "only trusted addresses, so the leftmost"],
    ["10.0.0.1", "203.0.113.7, , ,", "203.0.113.7", "empty elements"],
    ["10.0.0.1", "203.0.113.7:567", "203.0.113.7", "a port"],
    ["10.0.0.1", "2001:db8::1", "2001:db8::/64", "IPv6"],
    ["10.0.0.1", "[2001:db8::1]:443", "2001:db8::/64", "brackets and a port"],
    ["10.0.0.1", "[fe80::1%25eth0]:443", "fe80::/64", "a zone in brackets"],
    ["10.0.0.1", `[fe80::1%${"z".repeat(100)}]`, "fe80::/64", "a zone that is too long to keep"],
    ["10.0.0.1", "::ffff:203.0.113.7", "203.0.113.7", "IPv4-mapped"],
    ["10.0.0.1", "unknown", "10.0.0.1", "an invalid entry, so the proxy"],
    ["10.0.0.1", "203.0.113.7, junk, 10.1.1.1", "10.1.1.1", "an invalid entry before a proxy"],
    ["10.0.0.1", "junk, 203.0.113.7", "203.0.113.7", "an invalid entry left of the client"],
    ["10.0.0.1", "203.0.113.07", "10.0.0.1", "octal"],
    ["not an address", "203.0.113.7", "unknown", "a peer that is not an address"],
  ])("the peer %p with X-Forwarded-For %p is counted as %p: %s", (peer, forwardedFor, key) => {
    expect(proxied(peer, forwardedFor)).toBe(key);
    // The second call reads the cache.
    expect(proxied(peer, forwardedFor)).toBe(key);
  });

  test.each([
    ["::ffff:10.0.0.1", true],
    ["::2", false],
    ["no address", false],
    [undefined, false],
  ])("the peer %p is trusted: %p", (peer, isTrusted) => {
    expect(withProxies.trusts(peer)).toBe(isTrusted);
  });

  test("entries to the left of the entry that the proxy added have no effect", () => {
    const junk = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef:.,[]%" x/') }),
      fc.ipV6(),
    );
    fc.assert(
      fc.property(fc.array(junk).map(String), (header) => {
        expect(proxied("10.0.0.1", `${header}, 203.0.113.7`)).toBe("203.0.113.7");
      }),
      { numRuns: runs(100) },
    );
  });

  test("no header throws, and if a header has no valid address, the proxy is the client", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789abf:.,[]%" ') }), (header) => {
        expect(proxied("10.0.0.1", header)).toMatch(/^[\da-f:./]+$/);
        expect(proxied("10.0.0.1", header.replace(/[\d:]/g, "g"))).toBe("10.0.0.1");
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("a CIDR", () => {
  test.each([
    ["10.0.0.0/8", "10.0.0.0", 8],
    ["10.1.2.3", "10.1.2.3", 32],
    ["::ffff:10.1.2.3", "10.1.2.3", 32],
    ["::ffff:7f00:0/104", "127.0.0.0", 8],
    ["2001:db8::/32", "2001:db8::", 32],
    ["::1", "::1", 128],
  ])("%p is parsed", (text, address, bits) => {
    expect(parseCidr(text)?.map(String)).toEqual([address, String(bits)]);
  });

  const invalid =
    "10.0.0.0/ 10.0.0.0/33 10.0.0/8 010.0.0.0/8 ::/129 proxy.example 10.0.0.0/255.0.0.0";
  test.each(["", ...invalid.split(" ")])("%p is invalid", (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  test.each([
    ["10.200.3.4/9", "10.128.0.1", true],
    ["10.200.3.4/9", "10.127.0.1", false],
    ["0.0.0.0/0", "2001:db8::1", false],
  ])("%p covers %p: %p", (network, address, isCovered) => {
    const clients = createClients({ trusted: networks(network), ipv6Prefix: 64 });
    expect(clients.trusts(address)).toBe(isCovered);
  });
});

function networks(...texts: string[]) {
  return texts.map((text) => parseCidr(text) ?? expect.unreachable());
}
