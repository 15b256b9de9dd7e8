/**
 * Who is counted: the address a request came from. Addresses of one machine written in two ways are
 * one client.
 */
import { parse } from "ipaddr.js";

/** The key of a peer's address; requests without a known address share one. */
export function clientOf(peer: string | undefined): string {
  if (peer === undefined) return "unknown";
  if (!peer.includes(":")) return peer;
  const address = parse(peer);
  return address.kind() === "ipv6" &&
    "isIPv4MappedAddress" in address &&
    address.isIPv4MappedAddress()
    ? address.toIPv4Address().toString()
    : address.toString();
}
