/** The headers that tell browsers what they must not do with a response. */

/** On every response: no browser guesses a type. */
export const securityHeaders = { "x-content-type-options": "nosniff" };

/** Scalar writes its styles into the docs page; everything else comes from this server or not at all. */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
