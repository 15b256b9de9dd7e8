/**
 * The API's own document: what it says of each route, made of the table of routes, the schemas of the
 * domain and the table of errors. Serving it is docs.ts's.
 */
import { swagger } from "@elysiajs/swagger";
import { type TSchema, Type } from "@sinclair/typebox";
import { type DocumentDecoration, Elysia } from "elysia";
import { Achievement, AchievementEntry } from "../domain/achievement.ts";
import { CompanyReference, CompanySearchResult } from "../domain/company.ts";
import { type ErrorCode, errors } from "../domain/error.ts";
import { Role } from "../domain/role.ts";
import { User, UserSearchResult } from "../domain/user.ts";
import { apiVersion } from "../domain/version.ts";
import { hasValidator } from "./caching.ts";
import { ALLOWED_METHODS, corsHeaders, preflightHeaders } from "./cors.ts";
import type { Route } from "./routes.ts";
import { noIndexHeader, securityHeaders } from "./security-headers.ts";

/** Stands in the document, and in examples.json, where the server's own origin goes. */
export const ORIGIN = "http://origin.invalid";

export interface Operation {
  summary: string;
  description: string;
  tag: "Users" | "Search" | "Service";
  parameter?: {
    in: "path" | "query";
    name: string;
    description: string;
    schema: TSchema;
    /** A value for which the demo has something. */
    example: unknown;
  };
  /** The fields beside `success` in a 200. */
  success: Record<string, TSchema>;
  /** The body of the demo's 200 for the parameter's example. */
  example: unknown;
  /** Its own errors: those of the search limit and of bugs come from the route. */
  errors: readonly ErrorCode[];
}

const ErrorBody = Type.Object({
  success: Type.Literal(false),
  error: Type.Object({
    code: Type.Unsafe<string>({ type: "string", enum: Object.keys(errors) }),
    message: Type.String({ description: "a sentence that a person can act on" }),
    retry_after: Type.Optional(
      Type.Integer({ minimum: 1, description: "whole seconds to wait, only with rate_limited" }),
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

const seconds = { type: "integer", minimum: 0 };
const exactly = (value: string) => ({ schema: { type: "string", const: value } });

/** Every header of a response that says something of the API; `required` are those that never lack. */
const headers = {
  "X-API-Version": {
    description: "The version of the interface",
    required: true,
    ...exactly(apiVersion),
  },
  "X-Request-Id": {
    description: "The request's name in the server's log",
    required: true,
    schema: { type: "string", pattern: "^[\\w.~+/=:@-]{1,128}$" },
    example: "1f0c6c1e-7d0b-4a43-9d0c-0d9d5c7f3a52",
  },
  "X-Content-Type-Options": {
    description: "No client guesses a type",
    required: true,
    ...exactly(securityHeaders["x-content-type-options"]),
  },
  "X-Robots-Tag": {
    description: "What is about people is nobody's search index",
    required: true,
    ...exactly(noIndexHeader["x-robots-tag"]),
  },
  "Access-Control-Allow-Origin": {
    description: "Any page may read every response",
    required: true,
    ...exactly(corsHeaders["access-control-allow-origin"]),
  },
  "Access-Control-Expose-Headers": {
    description: "The headers that a page may read",
    required: true,
    ...exactly(corsHeaders["access-control-expose-headers"]),
  },
  "Access-Control-Allow-Methods": {
    description: "The methods that a page may use",
    required: true,
    ...exactly(preflightHeaders["access-control-allow-methods"]),
  },
  "Access-Control-Allow-Headers": {
    description: "The headers that a page may send",
    required: true,
    ...exactly(preflightHeaders["access-control-allow-headers"]),
  },
  "Access-Control-Max-Age": {
    description: "The seconds for which a browser may keep this",
    required: true,
    ...exactly(preflightHeaders["access-control-max-age"]),
  },
  Allow: { description: "The methods of the path", required: true, ...exactly(ALLOWED_METHODS) },
  "Cache-Control": {
    description:
      "Who may store the response and for how long: `no-cache` is to ask again each time with If-None-Match, `no-store` not at all",
    required: true,
    schema: {
      type: "string",
      pattern: "^(no-cache|no-store|(public|private), max-age=[1-9][0-9]*)$",
    },
    example: "no-cache",
  },
  ETag: {
    description: "The validator of this body in this coding, for If-None-Match",
    required: true,
    schema: { type: "string", pattern: '^"[\\w-]+-(identity|gzip|br|zstd)"$' },
    example: '"Zk9wY5cN0gQm1b3xq6l0b0cYp0Y-identity"',
  },
  Vary: {
    description: "What else the response depends on",
    required: true,
    ...exactly("accept-encoding"),
  },
  "Content-Encoding": {
    description: "The coding of the body, by Accept-Encoding; a short body has none",
    schema: { type: "string", enum: ["zstd", "br", "gzip"] },
  },
  "RateLimit-Policy": {
    description:
      'The policy: `"search";q=<requests>;w=<seconds>`. A server without a search limit has no such header.',
    schema: { type: "string", pattern: '^"search";q=[0-9]+;w=[0-9]+$' },
    example: '"search";q=30;w=3600',
  },
  RateLimit: {
    description: 'Where you stand: `"search";r=<left>;t=<seconds until one more is free>`',
    schema: { type: "string", pattern: '^"search";r=[0-9]+;t=[0-9]+$' },
    example: '"search";r=29;t=3600',
  },
  "X-RateLimit-Limit": {
    description: "Requests in a window",
    schema: { type: "integer", minimum: 1 },
    example: 30,
  },
  "X-RateLimit-Remaining": {
    description: "Requests left just now",
    schema: { type: "integer", minimum: 0 },
    example: 29,
  },
  "X-RateLimit-Reset": {
    description: "Unix time in seconds at which one more is free",
    schema: seconds,
    example: 1_735_689_600,
  },
  "Retry-After": {
    description: "Whole seconds to wait; waiting that long is always enough",
    required: true,
    schema: { type: "integer", minimum: 1 },
    example: 1200,
  },
} as const;

type HeaderName = keyof typeof headers;

const onEvery: HeaderName[] = [
  "X-API-Version",
  "X-Request-Id",
  "X-Content-Type-Options",
  "X-Robots-Tag",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
  "Cache-Control",
];
const onPreflight: HeaderName[] = [
  "Allow",
  "Access-Control-Allow-Methods",
  "Access-Control-Allow-Headers",
  "Access-Control-Max-Age",
];
const onLimited: HeaderName[] = [
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];

/** The named schemas and headers. */
export const components = {
  schemas: Object.fromEntries(
    Object.entries(named).map(([name, schema]) => [name, toOpenApi(schema, schema)]),
  ),
  headers,
};

export const documentedMethods = ["GET", "HEAD", "OPTIONS"] as const;
export type DocumentedMethod = (typeof documentedMethods)[number];

/** The document as JSON, as the plugin makes it of the routes: it writes 3.0.3 unless told, and ours are schemas of 3.1. */
export async function renderTemplate(routes: readonly Route[]): Promise<string> {
  const documentation = {
    openapi: "3.1.0",
    info: {
      title: "Roadbook",
      version: apiVersion.slice(1),
      summary: "Public driver profiles, achievements and search",
      description:
        "Public driver profiles, their achievements, and search over company and driver names. Read only; every response is JSON. The endpoints of users and search are under /api as well. GET, HEAD and OPTIONS work everywhere. Both searches share one budget a client.",
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "The operator of this server", url: ORIGIN },
    },
    servers: [
      { url: ORIGIN, description: "This server" },
      { url: `${ORIGIN}/api`, description: "The same under the prefix /api" },
    ],
    security: [],
    tags: [
      { name: "Users", description: "Public profiles and what their drivers unlocked" },
      { name: "Search", description: "Companies and drivers by name" },
      { name: "Service", description: "The service itself" },
    ],
    components,
  };
  const elysia = new Elysia({ aot: false }).use(
    swagger({
      path: "/docs",
      specPath: "/docs/json",
      documentation: documentation as object,
      excludeMethods: [],
    }),
  );
  for (const route of routes) {
    if (!route.operation) continue;
    for (const method of documentedMethods)
      elysia.route(method, route.path, () => {}, {
        detail: describe(route, route.operation, method),
      });
  }
  const response = await elysia.handle(new Request("http://localhost/docs/json"));
  return response.text();
}

/** The `detail` of a route: an OpenAPI operation with every status, header and body of a method. */
export function describe(
  route: Route,
  operation: Operation,
  method: DocumentedMethod,
): DocumentDecoration {
  const { summary, description, tag, parameter } = operation;
  const { name, api } = route;
  const parameters = parameter && [
    { ...parameter, required: true, schema: toOpenApi(parameter.schema) },
  ];
  const rest = {
    tags: [tag],
    // Only the endpoints are under the other prefix as well.
    ...(api ? {} : { servers: [{ url: ORIGIN }] }),
  };
  if (method === "OPTIONS")
    return {
      operationId: `${name}Options`,
      summary: `${summary}: what may be asked`,
      description: "The preflight of a browser. It never counts against the search limit.",
      ...rest,
      // For any value of the parameter, where it is in the path and cannot be left out.
      ...(parameter?.in === "path" && {
        parameters: [
          {
            ...parameter,
            required: true,
            schema: { type: "string" },
            example: String(parameter.example),
          },
        ],
      }),
      "x-scalar-ignore": true,
      responses: {
        204: response("The methods and headers of a request", [...onEvery, ...onPreflight]),
        431: headTooLarge,
      },
    } as DocumentDecoration;
  const responses = responsesOf(route, operation);
  if (method === "GET")
    return {
      operationId: name,
      summary,
      description,
      ...rest,
      parameters,
      responses,
    } as DocumentDecoration;
  return {
    operationId: `${name}Head`,
    summary: `${summary}: the head alone`,
    description: "What GET responds with, without the body. It counts as GET does.",
    ...rest,
    parameters,
    "x-scalar-ignore": true,
    responses: Object.fromEntries(
      Object.entries(responses)
        .filter(([status]) => status !== "405")
        .map(([status, { content: _, ...head }]) => [status, head]),
    ),
  } as DocumentDecoration;
}

interface ResponseObject {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: { "application/json": Record<string, unknown> };
}

function responsesOf(route: Route, operation: Operation): Record<string, ResponseObject> {
  const limit = route.limited ? onLimited : [];
  const common = [...onEvery, ...limit];
  const validator: HeaderName[] = hasValidator(route.cache) ? ["ETag", "Vary"] : [];
  const coding: HeaderName[] = hasValidator(route.cache) ? ["Content-Encoding"] : [];
  const body = Type.Object({ success: Type.Literal(true), ...operation.success });
  const responses: Record<string, ResponseObject> = {
    200: {
      ...response("Success", [...common, ...validator, ...coding]),
      content: { "application/json": { schema: toOpenApi(body), example: operation.example } },
    },
    405: errorResponse(["method_not_allowed"], [...onEvery, "Allow"]),
    431: headTooLarge,
  };
  if (hasValidator(route.cache))
    responses[304] = response("The body that If-None-Match names is still the same", [
      ...common,
      ...validator,
    ]);
  const codes: ErrorCode[] = [
    ...operation.errors,
    ...(route.limited ? (["rate_limited"] as const) : []),
    "internal_error",
  ];
  for (const status of new Set(codes.map((code) => errors[code].status))) {
    const ofStatus = codes.filter((code) => errors[code].status === status);
    responses[status] = errorResponse(ofStatus, [
      ...common,
      ...(status === 429 ? (["Retry-After"] as const) : []),
    ]);
  }
  return responses;
}

/** The server refuses it before it is a request, so it has none of the API's headers. */
const headTooLarge: ResponseObject = {
  description: "The head of the request, its URL included, is over 256 KB. There is no body.",
};

function response(description: string, names: readonly HeaderName[]): ResponseObject {
  return {
    description,
    headers: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
  };
}

function errorResponse(codes: readonly ErrorCode[], names: readonly HeaderName[]): ResponseObject {
  const sentences = codes.map((code) => `\`${code}\`: ${errors[code].message}`);
  const examples = codes.map((code) => {
    const { message } = errors[code];
    const more = code === "rate_limited" ? { retry_after: headers["Retry-After"].example } : {};
    return [code, { value: { success: false, error: { code, message, ...more } } }];
  });
  return {
    ...response(sentences.join("\n\n"), names),
    content: {
      "application/json": { schema: toOpenApi(ErrorBody), examples: Object.fromEntries(examples) },
    },
  };
}

/**
 * A schema as OpenAPI 3.1 has it, which is JSON Schema: named schemas by reference. `itself` is the
 * schema that is being named just now.
 */
function toOpenApi(schema: TSchema, itself?: TSchema): Record<string, unknown> {
  const name = Object.keys(named).find((key) => named[key] === schema);
  if (name && schema !== itself) return { $ref: `#/components/schemas/${name}` };
  const { anyOf, properties, items, ...rest } = schema;
  return {
    ...rest,
    ...(anyOf ? { anyOf: anyOf.map((branch: TSchema) => toOpenApi(branch)) } : {}),
    ...(items ? { items: toOpenApi(items) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries<TSchema>(properties).map(([key, value]) => [key, toOpenApi(value)]),
          ),
        }
      : {}),
  };
}
