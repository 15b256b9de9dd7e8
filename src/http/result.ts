/** The results that handlers return and hooks throw: plain objects for JSON, errors, any `Content`. */
import { ElysiaCustomStatusResponse } from "elysia";
import type { CachePolicy } from "./cache-control.ts";
import { Content, JSON_TYPE } from "./content.ts";
import { contentOfError, fail } from "./errors.ts";

/** A string is JSON that is already serialized. `cache` applies to it and to plain objects only. */
export function contentOf(value: unknown, cache?: CachePolicy): Content {
  if (value instanceof Content) return value;
  if (value instanceof Response) return contentOf(fail("internal_error"));
  if (value instanceof ElysiaCustomStatusResponse) return contentOfError(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return new Content(JSON_TYPE, text, { cache });
}

/** Whether a hook has thrown this, to be sent instead of what the handler returns. */
export function isResult(thrown: unknown): boolean {
  const kinds = [ElysiaCustomStatusResponse, Content, Response];
  return kinds.some((kind) => thrown instanceof kind);
}
