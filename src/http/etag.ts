/** Compares the validator of a body with those that a client already has. */

/** Whether If-None-Match has `etag`, weak or strong, or is `*`. A malformed tag matches nothing. */
export function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  const tags: string[] = header.match(/"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];
  return tags.includes(etag);
}
