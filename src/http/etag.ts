/** Compares the validator of a body with those that a client already has. */

/** A tag, with the suffix that Apache, lighttpd and others insert when they compress a response. */
const TAG = /"([\x21\x23-\x7e\x80-\xff]*?)(?:--?gzip|;gzip)?"/g;

/** Whether If-None-Match has `etag`, weak or strong, or is `*`. A malformed tag matches nothing. */
export function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  return header.matchAll(TAG).some(([tag, opaque]) => tag === etag || `"${opaque}"` === etag);
}
