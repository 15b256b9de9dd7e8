/**
 * Streams snapshots to and from other machines, and never holds a whole snapshot in memory. Error
 * messages contain neither the URL nor any text from the other machine, because both may contain
 * secrets.
 */
import { codeOf } from "../../files/errors.ts";
import type { RemoteLocation } from "./location.ts";

/**
 * Thrown when a transfer fails. The message continues a sentence that begins with the location's
 * name, for example "responded with 500".
 */
export class TransferError extends Error {
  override name = "TransferError";
}

export interface TransferOptions {
  headers?: Record<string, string>;
  /** The path of the file to send. */
  file?: string;
  timeoutMs: number;
  /** Unsuccessful status codes that return the response instead of throwing an error. */
  expected?: number[];
}

const MAX_REDIRECTS = 5;

const networkErrors: Record<string, string> = {
  ECONNREFUSED: "cannot be reached: connection refused",
  ECONNRESET: "closed the connection too early",
  EAI_AGAIN: "cannot be reached: cannot resolve host name",
  ENOTFOUND: "cannot be reached: cannot resolve host name",
  EPROTO: "cannot be reached: TLS handshake failed",
};

/** Sends a request and follows redirects. `timeoutMs` includes reading the response body. */
export async function transfer(
  location: RemoteLocation,
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
    // For a GET, only a 200 is a success: a 206 has only a part of the body, and a 204 has none.
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
    // The body is a stream because over TLS, Bun would read a whole file into memory.
    ...(file && { body: file.stream() }),
    // Compression is detected from the first bytes of the body instead.
    decompress: false,
    // Each redirect is checked before it is followed.
    redirect: "manual",
    signal,
  });
}

/**
 * Returns the URL that a response redirects to, if any. Throws a {@link TransferError} if that URL
 * is unsafe.
 */
function findRedirect({ status, headers }: Response, method: string, from: URL): URL | undefined {
  const target = headers.get("location");
  // Only a 307 or 308 repeats a PUT with its body.
  const statuses = method === "PUT" ? [307, 308] : [301, 302, 303, 307, 308];
  if (!statuses.includes(status) || target === null) return undefined;
  const url = URL.parse(target, from);
  // Bun's fetch also accepts file: and s3: URLs.
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TransferError("redirects to a URL that is neither http nor https");
  }
  if (from.protocol === "https:" && url.protocol === "http:") {
    throw new TransferError("redirects from https to http");
  }
  url.username = url.password = "";
  return url;
}

/** Replaces Bun's own error, whose message may contain the URL. */
function networkError(error: unknown, timeoutMs: number): TransferError {
  if (error instanceof Error && error.name === "TimeoutError") {
    return new TransferError(`took longer than ${timeoutMs / 1000} s`);
  }
  const code = codeOf(error);
  return new TransferError(networkErrors[code] ?? `cannot be reached: ${code || "no response"}`);
}

/** Yields a response body as it arrives. Throws if the body is shorter than its Content-Length. */
export async function* readBody(response: Response, timeoutMs: number): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) yield chunk;
  } catch (error) {
    throw networkError(error, timeoutMs);
  }
}
