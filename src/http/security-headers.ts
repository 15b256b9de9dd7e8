/** The content security policies, each of which allows only what its kind of content needs. */

/** The page's script and style come from this server, but a dataset's avatars may be anywhere. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: http:; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** A drawing consists of shapes and text only. */
export const DRAWING_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** An operator's logo may also contain styles and embedded images. */
export const LOGO_POLICY = `${DRAWING_POLICY}; style-src 'unsafe-inline'; img-src data:`;
