/** The paths of the page. Routes serve them, and pages link to them. */

export const FAVICON_PATH = "/favicon.svg";

/** The id may also be the name of a route's parameter. */
export const driverPath = <Id extends number | string>(id: Id) => `/drivers/${id}` as const;
export const companyPath = <Id extends number | string>(id: Id) => `/companies/${id}` as const;

/** The path of a script, a style sheet or a logo. */
export const assetPath = <File extends string>(file: File) => `/assets/${file}` as const;
