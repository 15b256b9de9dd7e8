/**
 * The API's own document: what a route says of itself, made of the schemas of the domain. Serving
 * it is docs.ts's.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import { Achievement, AchievementEntry } from "../domain/achievement.ts";
import { CompanyReference, CompanySearchResult } from "../domain/company.ts";
import { type ErrorCode, errors } from "../domain/error.ts";
import { Role } from "../domain/role.ts";
import { User, UserSearchResult } from "../domain/user.ts";

const ErrorBody = Type.Object({
  success: Type.Literal(false),
  error: Type.Object({
    code: Type.Unsafe<string>({ type: "string", enum: Object.keys(errors) }),
    message: Type.String({ description: "a sentence that a person can act on" }),
    retry_after: Type.Optional(
      Type.Integer({ description: "whole seconds to wait, only with rate_limited" }),
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

/** The named schemas, as OpenAPI 3.0 has them. */
export const components = {
  schemas: Object.fromEntries(
    Object.entries(named).map(([name, schema]) => [name, toOpenApi(schema, schema)]),
  ),
};

export interface Operation {
  summary: string;
  description: string;
  tags: string[];
  parameters?: { in: "path" | "query"; name: string; description: string; schema: TSchema }[];
  /** The fields beside `success` in a 200. */
  success: Record<string, TSchema>;
  errors: readonly ErrorCode[];
  /** Headers of every response, and of a 429 alone. */
  headers?: Record<string, string>;
  limitedHeaders?: Record<string, string>;
}

/** The `detail` of a route: an OpenAPI operation with every status and body it responds with. */
export function describe(operationId: string, operation: Operation): DocumentDecoration {
  const { summary, description, tags, parameters = [], headers = {} } = operation;
  const body = Type.Object({ success: Type.Literal(true), ...operation.success });
  const responses: Record<string, unknown> = {
    200: response("Success", body, headers),
  };
  for (const status of new Set(operation.errors.map((code) => errors[code].status))) {
    const codes = operation.errors.filter((code) => errors[code].status === status);
    const sentences = codes.map((code) => `\`${code}\`: ${errors[code].message}`);
    const more = status === 429 ? operation.limitedHeaders : {};
    responses[status] = response(sentences.join("\n\n"), ErrorBody, { ...headers, ...more });
  }
  return {
    operationId,
    summary,
    description,
    tags,
    parameters: parameters.map(({ schema, ...parameter }) => ({
      ...parameter,
      required: true,
      schema: toOpenApi(schema),
    })),
    responses,
  } as DocumentDecoration;
}

function response(description: string, body: TSchema, headers: Record<string, string>) {
  return {
    description,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, text]) => [
        name,
        { description: text, schema: { type: "string" } },
      ]),
    ),
    content: { "application/json": { schema: toOpenApi(body) } },
  };
}

/**
 * A schema as OpenAPI 3.0 writes it: named schemas by reference, "or null" as `nullable`, a literal
 * as an enum of one. `itself` is the schema that is being named just now.
 */
function toOpenApi(schema: TSchema, itself?: TSchema): Record<string, unknown> {
  const name = Object.keys(named).find((key) => named[key] === schema);
  if (name && schema !== itself) return { $ref: `#/components/schemas/${name}` };
  const { anyOf, properties, items, const: literal, ...rest } = schema;
  if (Array.isArray(anyOf)) {
    const [one] = anyOf
      .filter((branch: TSchema) => branch.type !== "null")
      .map((branch) => toOpenApi(branch));
    return one && "$ref" in one ? { nullable: true, allOf: [one] } : { ...one, nullable: true };
  }
  return {
    ...rest,
    ...(literal === undefined ? {} : { enum: [literal] }),
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
