/**
 * Moves the bytes of snapshots between this machine and a location, from and to files, never in memory
 * whole. What an error says holds no URL and nothing that the other side wrote.
 */
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { decompress } from "../../files/decompress.ts";
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
  const file = options.file === undefined ? undefined : Bun.file(options.file);
  const { url, headers } = location.prepare(method);
  const response = await fetch(url, {
    method,
    headers: {
      "accept-encoding": "identity",
      ...headers,
      ...options.headers,
      ...(file && { "content-length": String(file.size) }),
    },
    // Given the file itself, Bun reads all of it into memory when it speaks TLS.
    ...(file && { body: file.stream() }),
    // Whatever arrives is recognised by its first bytes.
    decompress: false,
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    throw networkError(error, timeoutMs);
  });
  const isDowngraded = url.startsWith("https:") && response.url.startsWith("http:");
  // What is read is there in full with 200 alone: 206 is a part of it, and 204 none.
  const isDone = method === "PUT" ? response.ok : response.status === 200;
  if (isDone && !isDowngraded) return response;
  await response.body?.cancel();
  if (isDowngraded) throw new TransferError("leads from https to http");
  if (expected.includes(response.status)) return response;
  throw new TransferError(`responded with ${response.status}`);
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
 * Writes the body of a response to a new file, decompressed; returns how many bytes were received. Of
 * a body that is shorter than its Content-Length Bun says that the connection was cut.
 */
export async function saveBody(
  response: Response,
  path: string,
  timeoutMs: number,
): Promise<number> {
  let received = 0;
  async function* read() {
    try {
      for await (const chunk of response.body ?? []) {
        received += chunk.length;
        yield chunk;
      }
    } catch (error) {
      throw networkError(error, timeoutMs);
    }
  }
  await pipeline(decompress(read()), createWriteStream(path, { flags: "wx", mode: 0o600 }));
  return received;
}
