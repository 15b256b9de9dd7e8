/** Describes the API's operations in OpenAPI. docs.ts combines them into a document. */
import { type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import examples from "../../data/examples.json" with { type: "json" };
import { ErrorBody, type ErrorCode, errors } from "../domain/api.ts";
import * as model from "../domain/model.ts";
import { limitHeaders } from "./rate-limit.ts";
import { commonHeaders } from "./response.ts";
import { allowHeaders } from "./result.ts";

/** The placeholder for the server's own origin in the document. */
export const ORIGIN = "http://origin.invalid";

interface Operation {
  /** data/examples.json has the demo's response to each operation. */
  operationId: keyof typeof examples;
  summary: string;
  description: string;
  /** Searches count against the limit. A service route is not cached and not under /api. */
  tag: "Users" | "Search" | "Service";
  /** `example` is a value that exists in the demo. */
  parameter?: { in: "path" | "query"; schema: TSchema; example: unknown; [field: string]: unknown };
  /** The fields of a 200 response, apart from `success`. */
  success: Record<string, TSchema>;
  /** Errors specific to this route, in addition to the errors that every route can return. */
  errors: readonly ErrorCode[];
}

const { User, Role, CompanyReference, AchievementEntry, Achievement } = model;
const { CompanySearchResult, UserSearchResult } = model;
const users = { User, Role, CompanyReference, AchievementEntry, Achievement };
const named = { ...users, CompanySearchResult, UserSearchResult, Error: ErrorBody };
const references = new Map<TSchema, string>(
  Object.entries(named).map(([name, schema]) => [schema, `#/components/schemas/${name}`]),
);

function header(description: string, schema: object, required = true) {
  return { description, required, schema };
}

function constants(values: Record<string, string>) {
  const describe = (value: string) => header("Always this value", { type: "string", const: value });
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, describe(value)]));
}

const text = (pattern: string) => ({ type: "string", pattern });
const whole = (minimum: number) => ({ type: "integer", minimum });

/** The headers of responses, by kind. The rate-limit headers are absent if there is no limit. */
const headers = {
  common: {
    ...constants(commonHeaders),
    "X-Request-Id": header("The id in the server's log", text("^[\\w.~+/=:@-]{1,128}$")),
    "Cache-Control": header(
      "Who may store the response. With `no-cache`, a cache must revalidate it before each use.",
      text("^(no-cache|no-store|(public|private), max-age=[1-9][0-9]*)$"),
    ),
  },
  allow: constants(allowHeaders),
  validator: {
    ETag: header("The validator of the body", text('^"[\\w-]+-(identity|gzip)"$')),
    ...constants({ Vary: "accept-encoding" }),
  },
  coding: { "Content-Encoding": header("The coding", { type: "string", const: "gzip" }, false) },
  limit: Object.fromEntries(
    Object.entries(limitHeaders).map(([name, [meaning, value]]) => {
      const schema = typeof value === "string" ? text(value) : whole(value);
      return [name, header(meaning, schema, false)];
    }),
  ),
  retry: { "Retry-After": header("Seconds to wait before the next try", whole(1), false) },
};

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

/**
 * 304 and 431 are left out, because they have no body, which would make the data and the error
 * optional in generated types. A client sees a 304 only if it sets If-None-Match itself.
 */
function responsesOf({ operationId, success, errors: own, tag }: Operation) {
  const common = { ...headers.common, ...(tag === "Search" && headers.limit) };
  const coded = tag === "Service" ? common : { ...common, ...headers.validator, ...headers.coding };
  const body = Type.Object({ success: Type.Literal(true), ...success });
  const json = { schema: toOpenApi(body), example: examples[operationId] };
  const codes = [...own, "internal_error", "unavailable"] as const;
  const failures = Map.groupBy(codes, (code) => errors[code].status);
  return {
    200: response("Success", coded, json),
    ...Object.fromEntries(
      [...failures].map(([status, codes]) => {
        const retry = (status === 429 || status === 503) && headers.retry;
        return [status, failure(codes, { ...common, ...retry })];
      }),
    ),
    405: failure(["method_not_allowed"], { ...headers.common, ...headers.allow }),
  };
}

function failure(codes: readonly ErrorCode[], its: object) {
  const sentences = codes.map((code) => `\`${code}\`: ${errors[code].message}`);
  const examples = codes.map((code) => {
    const { message } = errors[code];
    const error = { code, message, ...(code === "rate_limited" && { retry_after: 1200 }) };
    return [code, { value: { success: false, error } }];
  });
  const schema = { $ref: references.get(ErrorBody) };
  return response(sentences.join("\n\n"), its, { schema, examples: Object.fromEntries(examples) });
}

function response(description: string, its: object, body: object) {
  const reference = (name: string) => [name, { $ref: `#/components/headers/${name}` }];
  return {
    description,
    headers: Object.fromEntries(Object.keys(its).map(reference)),
    content: { "application/json": body },
  };
}

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
