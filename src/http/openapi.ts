/**
 * Describes the operations of the API in OpenAPI 3.1. Each route calls {@link describeOperation},
 * and docs.ts combines all operations into a document.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import { type ErrorCode, errors } from "../domain/error.ts";
import {
  Achievement,
  AchievementEntry,
  CompanyReference,
  CompanySearchResult,
  Role,
  User,
  UserSearchResult,
} from "../domain/model.ts";
import { commonHeaders, preflightHeaders } from "./response.ts";

/** The placeholder for the server's own origin in the document. */
export const ORIGIN = "http://origin.invalid";

/** The GET operation of a documented route. */
interface Operation {
  operationId: string;
  summary: string;
  description: string;
  /** Searches count against the limit. A service route is not cached and not under /api. */
  tag: "Users" | "Search" | "Service";
  parameter?: {
    in: "path" | "query";
    name: string;
    description: string;
    schema: TSchema;
    /** A value that exists in the demo. */
    example: unknown;
  };
  /** The fields of a 200 response, apart from `success`. */
  success: Record<string, TSchema>;
  /** The demo's response to the parameter's example value. */
  example: unknown;
  /** Errors specific to this route, in addition to the errors that every route can return. */
  errors: readonly ErrorCode[];
}

const RETRY_AFTER_EXAMPLE = 1200;

const ErrorBody = Type.Object({
  success: Type.Literal(false),
  error: Type.Object({
    code: Type.Unsafe<string>({ type: "string", enum: Object.keys(errors) }),
    message: Type.String({ description: "One sentence for people that says how to proceed" }),
    retry_after: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "Whole seconds to wait; present only with `rate_limited`",
      }),
    ),
  }),
});

const named: Record<string, TSchema> = {
  User,
  Role,
  CompanyReference,
  AchievementEntry,
  Achievement,
  CompanySearchResult,
  UserSearchResult,
  Error: ErrorBody,
};
const references = new Map(
  Object.entries(named).map(([name, schema]) => [schema, `#/components/schemas/${name}`]),
);

/** Describes headers that always have the same value. */
function constants(values: Record<string, string>, descriptions: Record<string, string>) {
  const entries = Object.entries(descriptions).map(([name, description]) => {
    const schema = { type: "string", const: values[name.toLowerCase()] };
    return [name, { description, schema }];
  });
  return Object.fromEntries(entries);
}

function text(description: string, pattern: string) {
  return { description, schema: { type: "string", pattern } };
}

function whole(description: string, minimum: 0 | 1) {
  return { description, schema: { type: "integer", minimum } };
}

function required(headers: Record<string, object>) {
  const entries = Object.entries(headers).map(([name, its]) => [name, { ...its, required: true }]);
  return Object.fromEntries(entries);
}

/** The headers of responses, by kind. */
const headers = {
  common: required({
    ...constants(commonHeaders, {
      "X-API-Version": "The version of the interface",
      "X-Content-Type-Options": "Browsers must not guess a content type",
      "X-Robots-Tag":
        "Search engines must not list the response, because it may contain personal data",
      "Access-Control-Allow-Origin": "A page of any origin may read the response",
      "Access-Control-Expose-Headers": "The response headers that a page may read",
    }),
    "X-Request-Id": text("The id of the request in the server's log", "^[\\w.~+/=:@-]{1,128}$"),
    "Cache-Control": text(
      "Who may store the response and for how long. With `no-cache`, a cache must revalidate " +
        "it with If-None-Match before each use; with `no-store`, it must not store it.",
      "^(no-cache|no-store|(public|private), max-age=[1-9][0-9]*)$",
    ),
  }),
  allow: required(constants(preflightHeaders, { Allow: "The methods that the path supports" })),
  validator: required({
    ETag: text(
      "The validator of the body in this content coding, for If-None-Match",
      '^"[\\w-]+-(identity|gzip)"$',
    ),
    ...constants(
      { vary: "accept-encoding" },
      { Vary: "The request headers that the response depends on" },
    ),
  }),
  coding: {
    "Content-Encoding": {
      description: "The content coding, chosen by Accept-Encoding; short bodies are not compressed",
      schema: { type: "string", enum: ["gzip"] },
    },
  },
  limit: {
    "RateLimit-Policy": text(
      'The limit: `"search";q=<requests>;w=<seconds>`. Absent if the server has no search limit.',
      '^"search";q=[0-9]+;w=[0-9]+$',
    ),
    RateLimit: text(
      'Your budget: `"search";r=<requests left>;t=<seconds until one more is free>`',
      '^"search";r=[0-9]+;t=[0-9]+$',
    ),
    "X-RateLimit-Limit": whole("The number of requests allowed in a window", 1),
    "X-RateLimit-Remaining": whole("The number of requests left at the moment", 0),
    "X-RateLimit-Reset": whole("The Unix time in seconds at which one more request is free", 0),
  },
  retry: required({
    "Retry-After": whole("Whole seconds to wait; waiting that long is always enough", 1),
  }),
};

/** Describes an operation in OpenAPI 3.1, with every status, header and body. */
export function describeOperation(operation: Operation): DocumentDecoration {
  const { operationId, summary, description, tag, parameter } = operation;
  const detail = {
    operationId,
    summary,
    description,
    tags: [tag],
    ...(tag === "Service" && { servers: [{ url: ORIGIN }] }),
    ...(parameter && {
      parameters: [{ ...parameter, required: true, schema: toOpenApi(parameter.schema) }],
    }),
    responses: responsesOf(operation),
  };
  // The plugin's types describe OpenAPI 3.0, but the plugin copies the object unchanged.
  return detail as object;
}

function responsesOf({ success, example, errors: own, tag }: Operation) {
  const common = { ...headers.common, ...(tag === "Search" && headers.limit) };
  const body = Type.Object({ success: Type.Literal(true), ...success });
  const json = { schema: toOpenApi(body), example };
  const validated = { ...common, ...headers.validator };
  const byStatus = Map.groupBy(
    [...own, "internal_error" as const, "unavailable" as const],
    (code) => errors[code].status,
  );
  const failures = [...byStatus].map(([status, codes]) => {
    return [status, errorResponse(codes, { ...common, ...(status === 429 && headers.retry) })];
  });
  return {
    ...(tag === "Service"
      ? { 200: response("Success", common, json) }
      : {
          200: response("Success", { ...validated, ...headers.coding }, json),
          304: response("The body is still the one that If-None-Match names", validated),
        }),
    ...Object.fromEntries(failures),
    405: errorResponse(["method_not_allowed"], { ...headers.common, ...headers.allow }),
    431: headTooLarge,
  };
}

function errorResponse(codes: readonly ErrorCode[], its: object) {
  const sentences = codes.map((code) => `\`${code}\`: ${errors[code].message}`);
  const examples = codes.map((code) => {
    const more = code === "rate_limited" && { retry_after: RETRY_AFTER_EXAMPLE };
    const error = { code, message: errors[code].message, ...more };
    return [code, { value: { success: false, error } }];
  });
  const schema = { $ref: references.get(ErrorBody) };
  return response(sentences.join("\n\n"), its, { schema, examples: Object.fromEntries(examples) });
}

/** Describes a response. The JSON omits undefined fields. */
function response(description: string, its?: object, body?: object) {
  const reference = (name: string) => [name, { $ref: `#/components/headers/${name}` }];
  return {
    description,
    headers: its && Object.fromEntries(Object.keys(its).map(reference)),
    content: body && { "application/json": body },
  };
}

/** The HTTP server itself rejects an oversized request, so the response lacks the API's headers. */
const headTooLarge = response(
  "The request line and headers, including the URL, exceed 16 KB. The response has no body.",
);

/** Replaces named schemas inside a schema with references. */
function toOpenApi(schema: TSchema): Record<string, unknown> {
  const text = JSON.stringify(schema, (key, value) => {
    const $ref = key === "" ? undefined : references.get(value);
    return $ref ? { $ref } : value;
  });
  return JSON.parse(text);
}

/** The schemas and headers that operations refer to. */
export const components = {
  schemas: Object.fromEntries(
    Object.entries(named).map(([name, schema]) => [name, toOpenApi(schema)]),
  ),
  headers: Object.assign({}, ...Object.values(headers)),
};
