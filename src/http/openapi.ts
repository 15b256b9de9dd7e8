/**
 * The OpenAPI document: what a route declares about itself, and the document that the swagger plugin
 * makes of all declarations. Serving it is docs.ts's.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
import { Achievement, AchievementEntry } from "../domain/achievement.ts";
import { CompanyReference, CompanySearchResult } from "../domain/company.ts";
import { type ErrorCode, errors } from "../domain/error.ts";
import { Role } from "../domain/role.ts";
import { User, UserSearchResult } from "../domain/user.ts";
import { apiVersion } from "../domain/version.ts";
import { type CachePolicy, hasValidator } from "./caching.ts";
import { ALLOWED_METHODS, corsHeaders, preflightHeaders } from "./cors.ts";
import { noIndexHeader, securityHeaders } from "./security-headers.ts";

/** Stands in the document, and in examples.json, where the server's own origin goes. */
export const ORIGIN = "http://origin.invalid";

/** What a documented route says of its GET; HEAD and OPTIONS follow from it. */
export interface Operation {
  operationId: string;
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
  /** Its own errors: the search limit and bugs add theirs. */
  errors: readonly ErrorCode[];
  cache: CachePolicy;
  /** Whether a request counts against the search limit. */
  isLimited?: boolean;
  /** Whether the same route is under /api as well. */
  isUnderApi?: boolean;
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

/** An operation as the document has it: OpenAPI 3.1, with every status, header and body. */
export function describeOperation(operation: Operation): DocumentDecoration {
  const { operationId, summary, description, parameter, isUnderApi } = operation;
  const detail = {
    operationId,
    summary,
    description,
    tags: [operation.tag],
    ...(!isUnderApi && { servers: [{ url: ORIGIN }] }),
    ...(parameter && {
      parameters: [{ ...parameter, required: true, schema: toOpenApi(parameter.schema) }],
    }),
    responses: responsesOf(operation),
  };
  // The plugin's types are those of OpenAPI 3.0; it copies what it is given.
  return detail as object;
}

/** A GET of the document, as {@link describeOperation} made it. */
interface DescribedGet {
  operationId: string;
  summary: string;
  parameters?: { in: string; example?: unknown }[];
  responses: Record<string, { content?: object }>;
}

const documentation = {
  // The plugin says 3.0.3 by default, and the schemas are those of 3.1.
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

/** The document of an app's routes as JSON; {@link ORIGIN} stands where the server's URL goes. */
export async function renderOpenApi(app: AnyElysia): Promise<string> {
  // Loaded here alone: most servers are never asked for it.
  const { swagger } = await import("@elysiajs/swagger");
  const specPath = "/openapi.json";
  const { routes } = new Elysia()
    .use(swagger({ specPath, documentation: documentation as object }))
    .use(app);
  const makeSpec = routes.find(({ path }) => path === specPath)?.handler as () => {
    paths: Record<string, { get: DescribedGet }>;
  };
  const spec = makeSpec();
  const paths = Object.entries(spec.paths).map(([path, { get }]) => [
    path,
    withHeadAndOptions(get),
  ]);
  return JSON.stringify({ ...spec, paths: Object.fromEntries(paths) });
}

/** The operations of a path: HEAD is GET without bodies, OPTIONS the preflight of a browser. */
function withHeadAndOptions(get: DescribedGet) {
  const { operationId, summary, parameters = [], responses, ...common } = get;
  const ofHead = Object.entries(responses)
    .filter(([status]) => status !== "405")
    .map(([status, { content: _, ...head }]) => [status, head]);
  // A preflight takes any value in the path, and no query.
  const anyValue = { required: true, schema: { type: "string" } };
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  return {
    get,
    head: {
      ...common,
      parameters,
      operationId: `${operationId}Head`,
      summary: `${summary}: the head alone`,
      description: "What GET responds with, without the body. It counts as GET does.",
      "x-scalar-ignore": true,
      responses: Object.fromEntries(ofHead),
    },
    options: {
      ...common,
      operationId: `${operationId}Options`,
      summary: `${summary}: what may be asked`,
      description: "The preflight of a browser. It never counts against the search limit.",
      parameters: inPath.map((one) => ({ ...one, ...anyValue, example: `${one.example}` })),
      "x-scalar-ignore": true,
      responses: {
        204: response("The methods and headers of a request", {
          ...onEvery,
          ...allow,
          ...onPreflight,
        }),
        431: headTooLarge,
      },
    },
  };
}

function responsesOf({ success, example, errors: own, cache, isLimited }: Operation) {
  const common = { ...onEvery, ...(isLimited && onLimited) };
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
  if (isLimited) codes.push("rate_limited");
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
