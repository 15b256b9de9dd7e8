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
import { type Route, routes } from "./routes.ts";
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
  /** Its own errors: those of the search limit, of bugs and of unavailable data come from the route. */
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
const references = new Map(
  Object.entries(named).map(([name, schema]) => [schema, `#/components/schemas/${name}`]),
);

const natural = { type: "integer", minimum: 0 };
const positive = { type: "integer", minimum: 1 };
const constant = (description: string, value: string) => ({
  description,
  required: true,
  schema: { type: "string", const: value },
});

/** The headers of responses, by where they are; `required` are those that never lack there. */
const always = {
  "X-API-Version": constant("The version of the interface", apiVersion),
  "X-Request-Id": {
    description: "The request's name in the server's log",
    required: true,
    schema: { type: "string", pattern: "^[\\w.~+/=:@-]{1,128}$" },
    example: "1f0c6c1e-7d0b-4a43-9d0c-0d9d5c7f3a52",
  },
  "X-Content-Type-Options": constant(
    "No client guesses a type",
    securityHeaders["x-content-type-options"],
  ),
  "X-Robots-Tag": constant(
    "What is about people is nobody's search index",
    noIndexHeader["x-robots-tag"],
  ),
  "Access-Control-Allow-Origin": constant(
    "Any page may read every response",
    corsHeaders["access-control-allow-origin"],
  ),
  "Access-Control-Expose-Headers": constant(
    "The headers that a page may read",
    corsHeaders["access-control-expose-headers"],
  ),
};
const onPreflight = {
  "Access-Control-Allow-Methods": constant(
    "The methods that a page may use",
    preflightHeaders["access-control-allow-methods"],
  ),
  "Access-Control-Allow-Headers": constant(
    "The headers that a page may send",
    preflightHeaders["access-control-allow-headers"],
  ),
  "Access-Control-Max-Age": constant(
    "The seconds for which a browser may keep this",
    preflightHeaders["access-control-max-age"],
  ),
};
const allow = { Allow: constant("The methods of the path", ALLOWED_METHODS) };
const cacheControl = {
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
};
const validator = {
  ETag: {
    description: "The validator of this body in this coding, for If-None-Match",
    required: true,
    schema: { type: "string", pattern: '^"[\\w-]+-(identity|gzip|br|zstd)"$' },
    example: '"Zk9wY5cN0gQm1b3xq6l0b0cYp0Y-identity"',
  },
  Vary: constant("What else the response depends on", "accept-encoding"),
};
const coding = {
  "Content-Encoding": {
    description: "The coding of the body, by Accept-Encoding; a short body has none",
    schema: { type: "string", enum: ["zstd", "br", "gzip"] },
  },
};
const onLimited = {
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
  "X-RateLimit-Limit": { description: "Requests in a window", schema: positive, example: 30 },
  "X-RateLimit-Remaining": { description: "Requests left just now", schema: natural, example: 29 },
  "X-RateLimit-Reset": {
    description: "Unix time in seconds at which one more is free",
    schema: natural,
    example: 1_735_689_600,
  },
};
const retryAfter = {
  "Retry-After": {
    description: "Whole seconds to wait; waiting that long is always enough",
    required: true,
    schema: positive,
    example: 1200,
  },
};
const onEvery = { ...always, ...cacheControl };

let template: Promise<string> | undefined;

/** The document of a server at that URL, as JSON. */
export async function openApiDocument(url: string): Promise<string> {
  template ??= renderTemplate();
  return (await template).replaceAll(ORIGIN, () => JSON.stringify(url).slice(1, -1));
}

/** As the plugin makes it of the routes: it writes 3.0.3 by default, and ours are schemas of 3.1. */
async function renderTemplate(): Promise<string> {
  const documentation = {
    openapi: "3.1.0",
    info: {
      title: "Roadbook",
      description:
        "Public driver profiles, their achievements, and search over company and driver names. Read only; every response is JSON. The endpoints of users and search are under /api as well. GET, HEAD and OPTIONS work everywhere. Both searches share one budget a client.",
      version: apiVersion.slice(1),
      summary: "Public driver profiles, achievements and search",
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
    components: {
      schemas: Object.fromEntries(
        Object.entries(named).map(([name, schema]) => [name, toOpenApi(schema)]),
      ),
      headers: {
        ...always,
        ...onPreflight,
        ...allow,
        ...cacheControl,
        ...validator,
        ...coding,
        ...onLimited,
        ...retryAfter,
      },
    },
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
    for (const [method, detail] of Object.entries(describe(route, route.operation)))
      elysia.route(method.toUpperCase(), route.path, () => {}, {
        detail: detail as DocumentDecoration,
      });
  }
  return (await elysia.handle(new Request("http://localhost/docs/json"))).text();
}

/** The operations of a path, each with every status, header and body that it may have. */
function describe(route: Route, operation: Operation) {
  const { summary, description, parameter } = operation;
  const common = {
    tags: [operation.tag],
    // Only the endpoints are under the other prefix as well.
    servers: route.api ? undefined : [{ url: ORIGIN }],
    parameters: parameter && [
      { ...parameter, required: true, schema: toOpenApi(parameter.schema) },
    ],
  };
  const responses = responsesOf(route, operation);
  const ofHead = Object.entries(responses)
    .filter(([status]) => status !== "405")
    .map(([status, { content: _, ...head }]) => [status, head]);
  // Of a preflight any value will do where the parameter is in the path, and none elsewhere.
  const anyValue = { required: true, schema: { type: "string" }, example: `${parameter?.example}` };
  const ofPreflight = { ...onEvery, ...allow, ...onPreflight };
  return {
    get: { operationId: route.name, summary, description, ...common, responses },
    head: {
      operationId: `${route.name}Head`,
      summary: `${summary}: the head alone`,
      description: "What GET responds with, without the body. It counts as GET does.",
      ...common,
      "x-scalar-ignore": true,
      responses: Object.fromEntries(ofHead),
    },
    options: {
      operationId: `${route.name}Options`,
      summary: `${summary}: what may be asked`,
      description: "The preflight of a browser. It never counts against the search limit.",
      ...common,
      parameters: parameter?.in === "path" ? [{ ...parameter, ...anyValue }] : undefined,
      "x-scalar-ignore": true,
      responses: {
        204: response("The methods and headers of a request", ofPreflight),
        431: headTooLarge,
      },
    },
  };
}

function responsesOf({ cache, limited }: Route, { success, example, errors: own }: Operation) {
  const common = { ...onEvery, ...(limited && onLimited) };
  const validated = { ...common, ...(hasValidator(cache) && validator) };
  const coded = { ...validated, ...(hasValidator(cache) && coding) };
  const body = Type.Object({ success: Type.Literal(true), ...success });
  const responses: Record<string, ReturnType<typeof response>> = {
    200: response("Success", coded, { schema: toOpenApi(body), example }),
    405: errorResponse(["method_not_allowed"], { ...onEvery, ...allow }),
    431: headTooLarge,
  };
  if (hasValidator(cache))
    responses[304] = response("The body that If-None-Match names is still the same", validated);
  const codes: ErrorCode[] = [...own, "internal_error", "unavailable"];
  if (limited) codes.push("rate_limited");
  for (const [status, ofStatus] of Map.groupBy(codes, (code) => errors[code].status))
    responses[status] = errorResponse(ofStatus, { ...common, ...(status === 429 && retryAfter) });
  return responses;
}

function errorResponse(codes: readonly ErrorCode[], headers: object) {
  const sentences = codes.map((code) => `\`${code}\`: ${errors[code].message}`);
  const examples = codes.map((code) => {
    const { message } = errors[code];
    const more = code === "rate_limited" && { retry_after: retryAfter["Retry-After"].example };
    return [code, { value: { success: false, error: { code, message, ...more } } }];
  });
  return response(sentences.join("\n\n"), headers, {
    schema: { $ref: references.get(ErrorBody) },
    examples: Object.fromEntries(examples),
  });
}

/** What is undefined is not in the JSON. */
function response(description: string, headers?: object, body?: object) {
  const reference = (name: string) => [name, { $ref: `#/components/headers/${name}` }];
  return {
    description,
    headers: headers && Object.fromEntries(Object.keys(headers).map(reference)),
    content: body && { "application/json": body },
  };
}

/** The server refuses it before it is a request, so it has none of the API's headers. */
const headTooLarge = response(
  "The head of the request, its URL included, is over 256 KB. There is no body.",
);

/** A schema with references to those in it that have a name. */
function toOpenApi(schema: TSchema): Record<string, unknown> {
  const text = JSON.stringify(schema, (key, value) => {
    const $ref = key === "" ? undefined : references.get(value);
    return $ref ? { $ref } : value;
  });
  return JSON.parse(text);
}
