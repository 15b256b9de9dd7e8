/** The id of a request in logs and headers: a new one, or the one that a trusted proxy has sent. */

/** The ids that are safe in logs and headers. */
export const REQUEST_ID = /^[\w.~+/=:@-]{1,128}$/;

export function requestIdOf(headers: Headers, isTrusted: boolean): string {
  const given = (isTrusted && headers.get("x-request-id")) || "";
  return REQUEST_ID.test(given) ? given : crypto.randomUUID();
}
