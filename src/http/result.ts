/** The results that handlers and hooks return: plain objects for JSON, errors, any `Content`. */
import { ElysiaCustomStatusResponse } from "elysia";
import type { CachePolicy } from "./cache-control.ts";
import { Content, JSON_TYPE } from "./content.ts";
import type { ErrorBody } from "./error-codes.ts";
import { headersOfError } from "./methods.ts";

/** A hook returns this to drop the connection without a response. */
export class DroppedConnection {}

/** `cache` applies to plain objects only. */
export function contentOf(value: unknown, cache?: CachePolicy): Content {
  if (value instanceof Content) return value;
  if (value instanceof ElysiaCustomStatusResponse) return contentOfError(value);
  return new Content(JSON_TYPE, JSON.stringify(value), { cache });
}

/** The error may also be one of the app that Roadbook is mounted in. */
function contentOfError({ code, response }: { code: unknown; response: unknown }): Content {
  const error = (response as Partial<ErrorBody> | undefined)?.error;
  return new Content(JSON_TYPE, JSON.stringify(response), {
    status: Number(code),
    headers: headersOfError(Number(code)),
    retryAfterSeconds: error?.retry_after,
  });
}
