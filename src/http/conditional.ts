/** Validators and conditional requests (RFC 9110, 8.8.3 and 13.1.2): the ETag and its 304. */
import type { Coding } from "./compression.ts";

/** Loaded with the first body: 2 ms of a start. */
let hash: typeof import("node:crypto").hash | undefined;

/**
 * A strong validator of this body in that content coding: another coding is another representation.
 * A hash of 64 bits (`Bun.hash`) would spare 3 % of a profile request; SHA-1 is there under Node, too.
 */
export function etagOf(body: string | Uint8Array, coding: Coding): string {
  hash ??= process.getBuiltinModule("node:crypto").hash;
  return `"${hash("sha1", body, "base64url")}-${coding}"`;
}

/**
 * Whether If-None-Match names `etag`: a list, weak or strong, or `*` (which compares weakly). What is
 * no such list matches nothing.
 */
export function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  for (const [tag] of header.matchAll(/"[\x21\x23-\x7e\x80-\xff]*"/g))
    if (tag === etag) return true;
  return false;
}
