/**
 * Moves the bytes of snapshots between this machine and a location, from and to files, never in memory
 * whole. What an error says holds no URL and nothing that the other side wrote.
 */
import { codeOf } from "../../files/errors.ts";
import type { Location } from "./location.ts";

/** The other side cannot be asked, or does not do it; `message` goes on where its name ends. */
export class TransferError extends Error {
  override name = "TransferError";
}

export interface TransferOptions {
  headers?: Record<string, string>;
  /** The file to send. */
  file?: string;
  timeoutMs: number;
  /** Statuses of failures that are no error. */
  expected?: number[];
}

const MAX_REDIRECTS = 5;

const networkErrors: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was cut",
  ENOTFOUND: "the host is not known",
  EPROTO: "TLS failed",
};

/** Sends a request; it and the reading of the response may take `timeoutMs`. */
export async function transfer(
  location: Location,
  method: "GET" | "HEAD" | "PUT",
  options: TransferOptions,
): Promise<Response> {
  const { timeoutMs, expected = [] } = options;
  const signal = AbortSignal.timeout(timeoutMs);
  const prepared = location.prepare(method);
  let url = new URL(prepared.url);
  const headers: Record<string, string> = { ...prepared.headers, ...options.headers };
  for (let redirects = 0; ; redirects++) {
    const response = await send(url, { method, headers, file: options.file, signal }).catch(
      (error: unknown) => {
        throw networkError(error, timeoutMs);
      },
    );
    // Only 200 has the whole body: 206 is a part of it, and 204 has none.
    if (method === "PUT" ? response.ok : response.status === 200) return response;
    await response.body?.cancel();
    if (expected.includes(response.status)) return response;
    const next = findRedirect(response, method, url);
    if (!next) throw new TransferError(`responded with ${response.status}`);
    if (redirects === MAX_REDIRECTS) {
      throw new TransferError(`redirects more than ${MAX_REDIRECTS} times`);
    }
    if (next.origin !== url.origin) delete headers.authorization;
    url = next;
  }
}

function send(
  url: URL,
  request: {
    method: string;
    headers: Record<string, string>;
    file: string | undefined;
    signal: AbortSignal;
  },
): Promise<Response> {
  const { method, headers, signal } = request;
  const file = request.file === undefined ? undefined : Bun.file(request.file);
  return fetch(url, {
    method,
    headers: {
      "accept-encoding": "identity",
      ...headers,
      ...(file && { "content-length": String(file.size) }),
    },
    // Given the file itself, Bun reads all of it into memory when it speaks TLS.
    ...(file && { body: file.stream() }),
    // Whatever arrives is recognised by its first bytes.
    decompress: false,
    // Each is checked before it is followed.
    redirect: "manual",
    signal,
  });
}

/**
 * The URL that a response redirects to, if it does. Throws a {@link TransferError} when a request there
 * would be less safe than the one before.
 */
function findRedirect({ status, headers }: Response, method: string, from: URL): URL | undefined {
  const location = headers.get("location");
  // The others do not ask for the body of a PUT again.
  const statuses = method === "PUT" ? [307, 308] : [301, 302, 303, 307, 308];
  if (!statuses.includes(status) || location === null) return undefined;
  const url = URL.parse(location, from);
  // Bun's fetch would read file: and s3:, too.
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TransferError("redirects to what is not an http or https URL");
  }
  if (from.protocol === "https:" && url.protocol === "http:") {
    throw new TransferError("redirects from https to http");
  }
  url.username = url.password = "";
  return url;
}

/** Bun's own messages may have the URL in them. */
function networkError(error: unknown, timeoutMs: number): TransferError {
  if (error instanceof Error && error.name === "TimeoutError") {
    return new TransferError(`took longer than ${timeoutMs / 1000} s`);
  }
  const code = codeOf(error);
  return new TransferError(`cannot be reached: ${networkErrors[code] ?? (code || "no response")}`);
}

/**
 * The body of a response, as it arrives. When it is shorter than its Content-Length, Bun says that the
 * connection was cut.
 */
export async function* readBody(response: Response, timeoutMs: number): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) yield chunk;
  } catch (error) {
    throw networkError(error, timeoutMs);
  }
}
