/** The headers that restrict how browsers and search engines use a response. */

/** Sent with every response. Stops browsers from guessing the content type. */
export const securityHeaders = { "x-content-type-options": "nosniff" };

/** Stops search engines from listing personal data. */
export const noIndexHeader = { "x-robots-tag": "noindex" };

/** The page's script and style come from this server, but a dataset's avatars may be anywhere. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: http:; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** A drawing consists of shapes and text only. */
export const DRAWING_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** An operator's logo may also contain styles and embedded images. */
export const LOGO_POLICY = `${DRAWING_POLICY}; style-src 'unsafe-inline'; img-src data:`;

/**
 * Scalar adds inline styles to the docs page, and its sample requests go to the public URL, which
 * may have another origin. Everything else comes from this server.
 */
export function docsPolicy(publicUrl: string | undefined): string {
  const connect = publicUrl === undefined ? "'self'" : `'self' ${new URL(publicUrl).origin}`;
  return (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; " +
    `font-src 'self' data:; connect-src ${connect}; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}
