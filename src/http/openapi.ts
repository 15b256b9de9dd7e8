/**
 * Builds the OpenAPI document, which docs.ts serves. Each route declares its operation, and the
 * swagger plugin combines all operations into the document.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
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
import { apiVersion } from "../domain/version.ts";
import { type CachePolicy, hasValidator } from "./caching.ts";
import { ALLOWED_METHODS, corsHeaders } from "./cors.ts";
import { noIndexHeader, securityHeaders } from "./security-headers.ts";

/** The placeholder for the server's own origin in the document and in examples.json. */
export const ORIGIN = "http://origin.invalid";

/** The GET operation of a documented route. */
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
    /** A value that exists in the demo. */
    example: unknown;
  };
  /** The fields of a 200 response, apart from `success`. */
  success: Record<string, TSchema>;
  /** The demo's response to the parameter's example value. */
  example: unknown;
  /** Errors specific to this route, in addition to the errors that every route can return. */
  errors: readonly ErrorCode[];
  cache: CachePolicy;
  /** Whether a request counts against the search limit. */
  isLimited?: boolean;
  /** Whether the route also exists under /api. */
  isUnderApi?: boolean;
}

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

const natural = { type: "integer", minimum: 0 };
const positive = { type: "integer", minimum: 1 };
const constant = (description: string, value: string) => ({
  description,
  required: true,
  schema: { type: "string", const: value },
});

/** Headers, by kind of response. A `required` header is in every response of that kind. */
const everyResponse = {
  "X-API-Version": constant("The version of the interface", apiVersion),
  "X-Request-Id": {
    description: "The id of the request in the server's log",
    required: true,
    schema: { type: "string", pattern: "^[\\w.~+/=:@-]{1,128}$" },
    example: "1f0c6c1e-7d0b-4a43-9d0c-0d9d5c7f3a52",
  },
  "X-Content-Type-Options": constant(
    "Browsers must not guess a content type",
    securityHeaders["x-content-type-options"],
  ),
  "X-Robots-Tag": constant(
    "Search engines must not list the response, because it may contain personal data",
    noIndexHeader["x-robots-tag"],
  ),
  "Access-Control-Allow-Origin": constant(
    "A page of any origin may read the response",
    corsHeaders["access-control-allow-origin"],
  ),
  "Access-Control-Expose-Headers": constant(
    "The response headers that a page may read",
    corsHeaders["access-control-expose-headers"],
  ),
};
const allow = { Allow: constant("The methods that the path supports", ALLOWED_METHODS) };
const cacheControl = {
  "Cache-Control": {
    description:
      "Who may store the response and for how long. With `no-cache`, a cache must revalidate it " +
      "with If-None-Match before each use; with `no-store`, it must not store it.",
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
    description: "The validator of the body in this content coding, for If-None-Match",
    required: true,
    schema: { type: "string", pattern: '^"[\\w-]+-(identity|gzip|br|zstd)"$' },
    example: '"Zk9wY5cN0gQm1b3xq6l0b0cYp0Y-identity"',
  },
  Vary: constant("The request headers that the response depends on", "accept-encoding"),
};
const coding = {
  "Content-Encoding": {
    description: "The content coding, chosen by Accept-Encoding; short bodies are not compressed",
    schema: { type: "string", enum: ["zstd", "br", "gzip"] },
  },
};
const limitHeaders = {
  "RateLimit-Policy": {
    description:
      'The limit: `"search";q=<requests>;w=<seconds>`. Absent if the server has no search limit.',
    schema: { type: "string", pattern: '^"search";q=[0-9]+;w=[0-9]+$' },
    example: '"search";q=30;w=3600',
  },
  RateLimit: {
    description: 'Your budget: `"search";r=<requests left>;t=<seconds until one more is free>`',
    schema: { type: "string", pattern: '^"search";r=[0-9]+;t=[0-9]+$' },
    example: '"search";r=29;t=3600',
  },
  "X-RateLimit-Limit": {
    description: "The number of requests allowed in a window",
    schema: positive,
    example: 30,
  },
  "X-RateLimit-Remaining": {
    description: "The number of requests left at the moment",
    schema: natural,
    example: 29,
  },
  "X-RateLimit-Reset": {
    description: "The Unix time in seconds at which one more request is free",
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
const commonHeaders = { ...everyResponse, ...cacheControl };

/** Describes an operation in OpenAPI 3.1, with every status, header and body. */
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
  // The plugin's types describe OpenAPI 3.0, but the plugin copies the object unchanged.
  return detail as object;
}

/**
 * How to be a good client. HEAD and OPTIONS are described only here, because otherwise a generator
 * would make three functions for each operation.
 */
const advice = `
- Every path also responds to \`HEAD\`, which is \`GET\` without a body and counts like it, and to
  \`OPTIONS\`, a browser's preflight, which never counts.
- Send the \`ETag\` of the last response in \`If-None-Match\`. A 304 means that nothing has changed.
- After a 429 or 503, wait for the seconds in \`Retry-After\`. Waiting that long is always enough.
- Both searches share one budget per client. \`RateLimit\` says how much of it is left.
- Name your program and a contact in \`User-Agent\`.`;

const documentation = {
  // The plugin's default is 3.0.3, but the schemas need 3.1.
  openapi: "3.1.0",
  info: {
    title: "Roadbook",
    description:
      "Public driver profiles, their achievements, and search by company or driver name. " +
      "The API is read-only, and every response is JSON. The endpoints of users and search also " +
      `exist under /api.\n${advice}`,
    version: apiVersion.slice(1),
    summary: "Public driver profiles, achievements and search",
    license: { name: "MIT", identifier: "MIT" },
    contact: { name: "The operator of this server", url: ORIGIN },
  },
  servers: [
    { url: ORIGIN, description: "This server" },
    { url: `${ORIGIN}/api`, description: "The same endpoints under the prefix /api" },
  ],
  security: [],
  tags: [
    { name: "Users", description: "Public profiles and achievements" },
    { name: "Search", description: "Search for companies and drivers by name" },
    { name: "Service", description: "The state of the service" },
  ],
  components: {
    schemas: Object.fromEntries(
      Object.entries(named).map(([name, schema]) => [name, toOpenApi(schema)]),
    ),
    headers: {
      ...everyResponse,
      ...allow,
      ...cacheControl,
      ...validator,
      ...coding,
      ...limitHeaders,
      ...retryAfter,
    },
  },
};

/** Renders the document for an app's routes as JSON, with {@link ORIGIN} as the server's URL. */
export async function renderOpenApi(app: AnyElysia): Promise<string> {
  // Loaded on demand, because most servers never serve the document.
  const { swagger } = await import("@elysiajs/swagger");
  const specPath = "/openapi.json";
  const { routes } = new Elysia()
    .use(swagger({ specPath, documentation: documentation as object }))
    .use(app);
  const makeSpec = routes.find(({ path }) => path === specPath)?.handler as () => object;
  return JSON.stringify(makeSpec());
}

function responsesOf({ success, example, errors: own, cache, isLimited }: Operation) {
  const common = { ...commonHeaders, ...(isLimited && limitHeaders) };
  const validated = { ...common, ...(hasValidator(cache) && validator) };
  const coded = { ...validated, ...(hasValidator(cache) && coding) };
  const body = Type.Object({ success: Type.Literal(true), ...success });
  const responses: Record<string, ReturnType<typeof response>> = {
    200: response("Success", coded, { schema: toOpenApi(body), example }),
    405: errorResponse(["method_not_allowed"], { ...commonHeaders, ...allow }),
    431: headTooLarge,
  };
  if (hasValidator(cache))
    responses[304] = response("The body is still the one that If-None-Match names", validated);
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

/** Describes a response. The JSON omits undefined fields. */
function response(description: string, headers?: object, body?: object) {
  const reference = (name: string) => [name, { $ref: `#/components/headers/${name}` }];
  return {
    description,
    headers: headers && Object.fromEntries(Object.keys(headers).map(reference)),
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
