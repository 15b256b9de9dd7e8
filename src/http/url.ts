/**
 * The address of a server, and the parts of a request's URL, of which each is found in linear time and
 * without an error.
 */

/** Where a server listens: only on its own machine. */
export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = "3000";
export const DEFAULT_ORIGIN = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;

/** The origin of a request without a host. */
export const LOCAL_ORIGIN = "http://localhost";

/** The index at which the path begins. `url` may lack a scheme and host. */
export function pathStart(url: string): number {
  return url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
}

export function pathOf(url: string): string {
  const start = pathStart(url);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}

/** A host as it stands in a URL, where an IPv6 address has brackets. */
export const toUrlHost = (host: string): string => (host.includes(":") ? `[${host}]` : host);

export const isUnder = (path: string, basePath: string): boolean =>
  `${path}/`.startsWith(`${basePath}/`);

export const withoutBase = (path: string, basePath: string): string =>
  isUnder(path, basePath) ? path.slice(basePath.length) : path;

/**
 * The ids of users and companies: 1 to 16 digits without a leading zero. Ids end at 2^53−1, so nobody
 * has some of them.
 */
export const ID = "^[1-9]\\d{0,15}$";

const idPattern = new RegExp(ID);

export function parseId(text: string): number | undefined {
  return idPattern.test(text) ? Number(text) : undefined;
}
