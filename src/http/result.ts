/**
 * What handlers return: a status and a body, not yet a `Response`. The API has two shapes of body, a
 * success object and an error object, as compact JSON.
 */
import { type ErrorCode, errors } from "../domain/error.ts";
import type { Body, Coding } from "./compression.ts";

export interface Result {
  status: number;
  /** The content type of the body. */
  type: string;
  body: Body | null;
  /** The content coding that the body has already; who does not accept it gets the body decoded. */
  coding?: "gzip";
  /** All requests share this result: its body is sent as one Blob, which Bun does not copy. */
  isShared?: true;
  /** Headers of this result alone. */
  headers?: Record<string, string>;
  /** Made of the body when first needed, for who asks again: the ETag's part of it, and its codings. */
  bodyHash?: string;
  encoded?: Partial<Record<Coding, Body | Blob>>;
}

const JSON_TYPE = "application/json; charset=utf-8";

/** 200 with `success: true` before the fields of `body`. */
export function succeed(body: Record<string, unknown>): Result {
  return { status: 200, type: JSON_TYPE, body: JSON.stringify({ success: true, ...body }) };
}

/** 200 with a body of that media type, in UTF-8. */
export function content(
  mediaType: string,
  body: Result["body"],
  headers: Record<string, string> = {},
): Result {
  return { status: 200, type: `${mediaType}; charset=utf-8`, body, headers };
}

/** The status and sentence of `code`, with more fields of the error object where it has any. */
export function fail(code: ErrorCode, details: Record<string, unknown> = {}): Result {
  const { status, message } = errors[code];
  const body = JSON.stringify({ success: false, error: { code, message, ...details } });
  return { status, type: JSON_TYPE, body };
}
