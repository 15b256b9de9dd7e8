/** The paths of the pages and of the files around them. Routes serve them, and pages link to them. */

/** The reference of the API, the OpenAPI document that it shows, and its script. */
export const DOCS_PATH = "/docs";
export const DOCUMENT_PATH = "/docs/json";
export const DOCS_SCRIPT_PATH = "/docs/scalar.js";

export const FAVICON_PATH = "/favicon.svg";
export const SITEMAP_PATH = "/sitemap.xml";

export const DRIVERS_FOLDER = "/drivers/";
export const COMPANIES_FOLDER = "/companies/";

// The id or the file may also be the name of a route's parameter, such as `:file`.

export const driverPath = <Id extends number | string>(id: Id) => `${DRIVERS_FOLDER}${id}` as const;

export const companyPath = <Id extends number | string>(id: Id) =>
  `${COMPANIES_FOLDER}${id}` as const;

/** The path of a script, a style sheet or a logo. */
export const assetPath = <File extends string>(file: File) => `/assets/${file}` as const;

/** The path of the drawing of an achievement. */
export const iconPath = <File extends string>(file: File) => `/icons/${file}` as const;
