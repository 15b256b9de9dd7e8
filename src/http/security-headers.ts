/** The headers that tell browsers what they must not do with a response. */

/** On every response: no browser guesses a type. */
export const securityHeaders = { "x-content-type-options": "nosniff" };

/** What is about people is nobody's search index. */
export const noIndexHeader = { "x-robots-tag": "noindex" };

/** The page's script and style come from this server; a dataset's avatars may be anywhere. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: http:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** A drawing is shapes and text. */
export const DRAWING_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** An operator's logo has styles of its own, too. */
export const LOGO_POLICY = `${DRAWING_POLICY}; style-src 'unsafe-inline'; img-src data:`;

/**
 * Scalar writes its styles into the docs page; everything else comes from this server or not at all.
 * A sample request goes to the public URL, which may be another name of this server.
 */
export function docsPolicy(publicUrl: string | undefined): string {
  const connect = publicUrl === undefined ? "'self'" : `'self' ${new URL(publicUrl).origin}`;
  return `default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src ${connect}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}
