/**
 * The typed API client for browsers, Node and Bun, with one function per operation in the OpenAPI
 * document. It imports nothing but types and never reads its environment.
 */

import type { ErrorCode } from "./domain/error.ts";
import type {
  AchievementEntry,
  CompanySearchResult,
  User,
  UserSearchResult,
} from "./domain/model.ts";

export type { AchievementEntry, CompanySearchResult, ErrorCode, User, UserSearchResult };

export interface CallOptions {
  /** Aborts the call, even while it waits to retry. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * How many times to retry after a 429 or 503 response, waiting as long as its `Retry-After`
   * says. At most 10; `true` means 3. Default `false`.
   */
  retry?: boolean | number | undefined;
  /**
   * The maximum wait before a retry. If a response asks for a longer wait, the call is not retried.
   * Default 3600, the server's default search window.
   */
  maxWaitSeconds?: number | undefined;
}

export interface ClientOptions extends Omit<CallOptions, "signal"> {
  /** Sends the requests. Defaults to the platform's `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

export interface Client {
  getPublicUser(id: number, options?: CallOptions): Promise<User>;
  /** Returns the newest achievements first. */
  listUserAchievements(id: number, options?: CallOptions): Promise<AchievementEntry[]>;
  /** Returns at most 10 companies, best matches first. */
  searchCompanies(q: string, options?: CallOptions): Promise<CompanySearchResult[]>;
  /** Returns at most 10 users, best matches first. */
  searchUsers(q: string, options?: CallOptions): Promise<UserSearchResult[]>;
}

/**
 * An error code from the API or this client: `network_error` if no complete response arrived,
 * `invalid_response` if the response was not the API's JSON. Later servers may add codes.
 */
export type RoadbookErrorCode =
  | ErrorCode
  | "network_error"
  | "invalid_response"
  | (string & Record<never, never>);

interface Facts {
  status?: number | undefined;
  retryAfterSeconds?: number | undefined;
  requestId?: string | undefined;
  cause?: unknown;
}

/** The error that a failed call rejects with, unless the call's signal was aborted. */
export class RoadbookError extends Error {
  override readonly name = "RoadbookError";
  readonly code: RoadbookErrorCode;
  /** The response's status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The wait in the response's `Retry-After`, if any. */
  readonly retryAfterSeconds: number | undefined;
  /** The response's `X-Request-Id`, which is also in the server's log. */
  readonly requestId: string | undefined;

  constructor(code: RoadbookErrorCode, message: string, facts: Facts = {}) {
    super(message, { cause: facts.cause });
    this.code = code;
    this.status = facts.status;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.requestId = facts.requestId;
  }
}

/**
 * Creates a client for the Roadbook at `baseUrl`, such as `https://example.org/api`. In a browser,
 * `baseUrl` may also be a path, or empty for the page's own origin. Throws a TypeError if `baseUrl`
 * has a query or a fragment.
 */
export function createClient(baseUrl: string, options: ClientOptions = {}): Client {
  if (/[?#]/.test(baseUrl)) throw new TypeError("The base URL must not have a query or a fragment");
  const base = baseUrl.replace(/\/+$/, "");

  async function call<Value>(
    path: string,
    field: string,
    callOptions: CallOptions = {},
  ): Promise<Value> {
    const { signal } = callOptions;
    const retry = callOptions.retry ?? options.retry ?? false;
    const maxWaitSeconds =
      callOptions.maxWaitSeconds ?? options.maxWaitSeconds ?? DEFAULT_MAX_WAIT_SECONDS;
    const retries = Math.min(retry === true ? DEFAULT_RETRIES : Number(retry), MAX_RETRIES);
    for (let retriesLeft = retries; ; retriesLeft--) {
      const result = await send<Value>(options.fetch, base + path, field, signal);
      if (!(result instanceof RoadbookError)) return result.value;
      const { status, retryAfterSeconds: seconds } = result;
      const isTemporary = status === 429 || status === 503;
      // If `retry` is invalid, `retriesLeft` is NaN. `NaN > 0` is false, so the loop still ends.
      const mayRetry = retriesLeft > 0 && seconds !== undefined && seconds <= maxWaitSeconds;
      if (!isTemporary || !mayRetry) throw result;
      await wait(seconds, signal);
    }
  }

  const user = (id: number) => encodeURIComponent(String(id));
  const query = (q: string) => new URLSearchParams({ q });
  return {
    getPublicUser: (id, options) => call(`/users/public/${user(id)}`, "user", options),
    listUserAchievements: (id, options) =>
      call(`/users/${user(id)}/achievements`, "achievements", options),
    searchCompanies: (q, options) => call(`/search/companies?${query(q)}`, "companies", options),
    searchUsers: (q, options) => call(`/search/users?${query(q)}`, "users", options),
  };
}

const DEFAULT_MAX_WAIT_SECONDS = 3600;
const DEFAULT_RETRIES = 3;
const MAX_RETRIES = 10;
/** A timer with a longer delay would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Returns `field` from a 200 response, or else an error. Throws the reason of an aborted signal.
 */
async function send<Value>(
  fetchUrl: ClientOptions["fetch"] = (url, init) => fetch(url, init),
  url: string,
  field: string,
  signal: AbortSignal | undefined,
): Promise<{ value: Value } | RoadbookError> {
  let response: Response;
  let text: string;
  try {
    signal?.throwIfAborted();
    response = await fetchUrl(url, {
      headers: { accept: "application/json" },
      ...(signal && { signal }),
    });
    text = await response.text();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    return new RoadbookError("network_error", `No response from ${url}`, { cause });
  }
  const { status, headers } = response;
  const body = parseObject(text);
  const error = body.error as { code?: unknown; message?: unknown } | null | undefined;
  if (status === 200 && body.success === true && field in body) {
    return { value: body[field] as Value };
  }
  const facts = {
    status,
    retryAfterSeconds: parseRetryAfter(headers.get("retry-after")),
    requestId: headers.get("x-request-id") ?? undefined,
  };
  if (typeof error?.code !== "string") {
    const message = `Unexpected reply from ${url}: status ${status} without the API's JSON`;
    return new RoadbookError("invalid_response", message, facts);
  }
  return new RoadbookError(error.code, String(error.message ?? error.code), facts);
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Parses a number of seconds, or the date that a proxy may send instead (RFC 9110, 10.2.3). */
function parseRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const ms = Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms / 1000));
}

/** Resolves early if the signal is aborted. The next request then throws the signal's reason. */
function wait(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted ? 0 : Math.min(seconds * 1000, MAX_TIMER_MS));
    signal?.addEventListener("abort", end);
  });
}
