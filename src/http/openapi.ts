/** Describes the API in OpenAPI: each operation, and the parts of the document around them. */
import { type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import examples from "../../data/examples.json" with { type: "json" };
import {
  Achievement,
  AchievementEntry,
  CompanyReference,
  CompanySearchResult,
  Role,
  User,
  UserSearchResult,
} from "../domain/model.ts";
import { apiVersion } from "../domain/version.ts";
import { API_PREFIX, type ErrorCode, endpoints, errors, errorsOf } from "./endpoints.ts";
import { allowHeaders, ErrorBody, fail } from "./errors.ts";
import { limitHeaders } from "./rate-limit.ts";
import { REQUEST_ID } from "./request-context.ts";
import { commonHeaders } from "./response.ts";

/** Stands for the server's own origin in the document. */
export const ORIGIN = "http://origin.invalid";

interface Operation {
  /** data/examples.json has the demo's response to each operation. */
  operationId: keyof typeof endpoints & keyof typeof examples;
  summary: string;
  description: string;
  /** `example` is a value that exists in the demo. */
  parameter?: { in: "path" | "query"; schema: TSchema; example: unknown; [field: string]: unknown };
  success: Record<string, TSchema>;
}

const named = {
  User,
  Role,
  CompanyReference,
  AchievementEntry,
  Achievement,
  CompanySearchResult,
  UserSearchResult,
  ApiError: ErrorBody,
};
const references = new Map<TSchema, string>(
  Object.entries(named).map(([name, schema]) => [schema, `#/components/schemas/${name}`]),
);

const text = (pattern: string) => ({ type: "string", pattern });
const whole = (minimum: number) => ({ type: "integer", minimum });
const constant = (value: string) => ({ type: "string", const: value });
const header = (description: string, schema: object, required = true) => {
  return { description, required, schema };
};
const constants = (values: Record<string, string>) =>
  mapValues(values, (value) => header("Always this value", constant(value)));

function mapValues<Value, To>(values: Record<string, Value>, map: (value: Value) => To) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

/** The headers of responses, by kind. The rate-limit headers are absent if there is no limit. */
const headers = {
  common: {
    ...constants(commonHeaders),
    "X-Request-Id": header("The id of this request", text(REQUEST_ID.source)),
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
  coding: { "Content-Encoding": header("The coding", constant("gzip"), false) },
  limit: mapValues(limitHeaders, ([meaning, value]) =>
    header(meaning, typeof value === "string" ? text(value) : whole(value), false),
  ),
  retry: { "Retry-After": header("Seconds to wait before the next try", whole(1), false) },
};

export function describeOperation(operation: Operation): DocumentDecoration {
  const { operationId, summary, description, parameter } = operation;
  const { tag } = endpoints[operationId];

  // The plugin's types describe OpenAPI 3.0, but the plugin copies the object unchanged.
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    ...(tag === "Service" && { servers: [{ url: ORIGIN }] }),
    ...(parameter && {
      parameters: [{ ...parameter, required: true, schema: toOpenApi(parameter.schema) }],
    }),
    // JSON.stringify calls it for the document. At the start, this would take 2 ms of each server.
    responses: { toJSON: () => responsesOf(operation) },
  } as object;
}

/**
 * 304 and 431 are left out, because they have no body, which would make the data and the error
 * optional in generated types. A client sees a 304 only if it sets If-None-Match itself.
 */
function responsesOf({ operationId, success }: Operation) {
  const { tag } = endpoints[operationId];
  const common = tag === "Search" ? { ...headers.common, ...headers.limit } : headers.common;
  const coded = tag === "Service" ? common : { ...common, ...headers.validator, ...headers.coding };
  const body = Type.Object({ success: Type.Literal(true), ...success });
  const json = { schema: toOpenApi(body), example: examples[operationId] };

  const codesOf = Map.groupBy<number, ErrorCode>(errorsOf[tag], (code) => errors[code].status);
  const failures = [...codesOf].map(([status, codes]) => {
    return [status, failure(codes, headersOfFailure(status, common))];
  });
  return { 200: response("Success", coded, json), ...Object.fromEntries(failures) };
}

/** `common` are the headers of all other responses of the operation. */
function headersOfFailure(status: number, common: object): object {
  // Another method is refused before the limit counts it.
  if (status === 405) return { ...headers.common, ...headers.allow };
  return status === 429 || status === 503 ? { ...common, ...headers.retry } : common;
}

function failure(codes: readonly ErrorCode[], sent: object) {
  const sentences = codes.map((code) => `\`${code}\`: ${errors[code].message}`);
  return response(sentences.join("\n\n"), sent, {
    schema: { $ref: references.get(ErrorBody) },
    // Without these, a tool that imitates the API responds with any code of the schema.
    examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
  });
}

function exampleOf(code: ErrorCode): ErrorBody {
  return fail(code, code === "rate_limited" ? { retry_after: 90 } : {}).response;
}

function response(description: string, sent: object, body: object) {
  const reference = (name: string) => [name, { $ref: `#/components/headers/${name}` }];
  return {
    description,
    headers: Object.fromEntries(Object.keys(sent).map(reference)),
    content: { "application/json": body },
  };
}

function toOpenApi(schema: TSchema): Record<string, unknown> {
  const text = JSON.stringify(schema, (key, value) => {
    const $ref = key === "" ? undefined : references.get(value);
    return $ref ? { $ref } : value;
  });
  return JSON.parse(text);
}

const description = `
Public driver profiles, their achievements, and search by company or driver name. The API is
read-only, and these operations respond with JSON. The Users and Search endpoints also exist under /api.

- \`HEAD\` is \`GET\` without a body.
- Send the last \`ETag\` in \`If-None-Match\`. A 304 means that nothing has changed.
- Both searches share one budget per client. \`GET\` and \`HEAD\` use it, \`OPTIONS\` does not. If
  a 429 or 503 has \`Retry-After\`, wait that many seconds.
- A request line and headers of more than 16 KB get a 431 without a body.
- Name your program and a contact in \`User-Agent\`.
`.trim();

/** The parts of the document that no route describes. */
export const documentation = {
  openapi: "3.1.0",
  info: {
    title: "Roadbook",
    description,
    version: apiVersion.slice(1),
    license: { name: "MIT", identifier: "MIT" },
    contact: { name: "The operator of this server", url: ORIGIN },
  },
  servers: [{ url: ORIGIN }, { url: ORIGIN + API_PREFIX }],
  security: [],
  tags: [
    { name: "Users", description: "Public profiles and achievements" },
    { name: "Search", description: "Search for companies and drivers by name" },
    { name: "Service", description: "The state of the service" },
  ],
  get components() {
    return {
      schemas: mapValues(named, toOpenApi),
      headers: Object.assign({}, ...Object.values(headers)),
    };
  },
};

/** Returns the JSON of a document with the URL at which a client has asked for it. */
export function documentAt(baseUrl: string, document: string): string {
  const url = JSON.stringify(baseUrl).slice(1, -1);
  return document.replaceAll(ORIGIN, () => url);
}
