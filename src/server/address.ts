/** Where a server listens by default, and how an address stands in a URL. */

/** Only clients on the same machine reach it. */
export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = "3000";
export const DEFAULT_ORIGIN = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;

/** A host as it stands in a URL, where an IPv6 address has brackets. */
export const toUrlHost = (host: string): string => (host.includes(":") ? `[${host}]` : host);
