/** Versions, and the bounds and defaults that help and messages name. */
import packageJson from "../../package.json" with { type: "json" };

/** Definitions are limited because a server may hold all of them in memory. */
export const MAX_ROLE_DEFINITIONS = 10_000;
export const MAX_ACHIEVEMENT_DEFINITIONS = 100_000;
/** How many errors of each kind to show. */
export const ERRORS_PER_KIND = 5;
/** Stands for standard input or output, where a file can be given. */
export const STANDARD = "-";
/** How long to wait for another command that writes the same file. */
export const WAIT_MS = 60_000;
/** How long to wait for each page of rows from a database server. */
export const DATABASE_TIMEOUT_MS = 120_000;
/** How long a takedown is remembered, and so the longest time for which an import can hold it. */
export const MAX_HOLD_MS = 3_600_000;
/** A snapshot of up to this size is read into memory. A larger one is copied and mapped. */
export const MAX_BYTES_IN_MEMORY = 8_000_000;
export const MAX_LOGO_BYTES = 256 * 1024;
/** In made-up data, there is one company for this many users. */
export const USERS_PER_COMPANY = 25;
/** Where a server listens: only on its own machine. */
export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = "3000";
export const DEFAULT_ORIGIN = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;

export const version: string = packageJson.version;
export const apiVersion = "v2.1.0";
