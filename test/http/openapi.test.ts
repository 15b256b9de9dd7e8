/** The OpenAPI document says what the API does: every status and body of real answers is in it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { community, openInProcess, type Target } from "../support.ts";

interface Schema {
  $ref?: string;
  type?: string;
  nullable?: boolean;
  allOf?: Schema[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}
interface Operation {
  operationId: string;
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  responses: Record<
    string,
    { description: string; headers: object; content: { "application/json": { schema: Schema } } }
  >;
}
interface Document {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

let target: Target;
let document: Document;
beforeAll(async () => {
  target = await openInProcess({ dataset: community, searchLimit: 3 });
  document = JSON.parse(await (await target.fetch("/docs/json")).text());
});
afterAll(() => target.close());

/** Where a value is not what the schema says; every field has to be named there. */
function faultsOf(value: unknown, schema: Schema, at = "body"): string[] {
  if (schema.$ref) {
    const name = schema.$ref.replace("#/components/schemas/", "");
    const named = document.components.schemas[name];
    return named ? faultsOf(value, named, at) : [`${at}: no schema ${name}`];
  }
  if (value === null) return schema.nullable ? [] : [`${at}: null`];
  if (schema.allOf) return schema.allOf.flatMap((part) => faultsOf(value, part, at));
  if (schema.enum && !schema.enum.includes(value)) return [`${at}: ${value} is not in the enum`];
  if (Array.isArray(value)) {
    const { items } = schema;
    return items
      ? value.flatMap((item, index) => faultsOf(item, items, `${at}[${index}]`))
      : [`${at}: a list`];
  }
  if (typeof value !== "object") {
    const type = Number.isInteger(value) ? "integer" : typeof value;
    return type === schema.type ? [] : [`${at}: ${type} instead of ${schema.type}`];
  }
  const { properties = {}, required = [] } = schema;
  return [
    ...required.filter((key) => !(key in value)).map((key) => `${at}.${key} is missing`),
    ...Object.entries(value).flatMap(([key, inner]) => {
      const property = properties[key];
      return property
        ? faultsOf(inner, property, `${at}.${key}`)
        : [`${at}.${key} is not in the document`];
    }),
  ];
}

test("it is OpenAPI 3 of version 2.1.0 and has the four endpoints and health", () => {
  expect(document.openapi).toStartWith("3.");
  expect(document.info.version).toBe("2.1.0");
  expect(Object.keys(document.paths).sort()).toEqual([
    "/health",
    "/search/companies",
    "/search/users",
    "/users/public/{userId}",
    "/users/{userId}/achievements",
  ]);
  for (const methods of Object.values(document.paths))
    expect(Object.keys(methods)).toEqual(["get"]);
});

test.each([
  ["/users/public/{userId}", "/users/public/42", 200],
  ["/users/public/{userId}", "/users/public/45", 200],
  ["/users/public/{userId}", "/users/public/x", 400],
  ["/users/public/{userId}", "/users/public/43", 403],
  ["/users/public/{userId}", "/users/public/99", 404],
  ["/users/{userId}/achievements", "/users/42/achievements", 200],
  ["/users/{userId}/achievements", "/users/x/achievements", 400],
  ["/users/{userId}/achievements", "/users/43/achievements", 403],
  ["/users/{userId}/achievements", "/users/99/achievements", 404],
  ["/search/companies", "/search/companies?q=express", 200],
  ["/search/users", "/search/users?q=ann", 200],
  ["/search/users", "/search/users?q=x", 400],
  ["/search/users", "/search/users?q=ann", 429],
  ["/health", "/health", 200],
])("%s describes the answer to %s (%d)", async (path, request, status) => {
  const response = await target.fetch(request);
  expect(response.status).toBe(status);
  const described = document.paths[path]?.get?.responses[status];
  expect(described?.description).toBeString();
  const schema = described?.content["application/json"].schema ?? {};
  expect(faultsOf(JSON.parse(await response.text()), schema)).toEqual([]);
  for (const name of Object.keys(described?.headers ?? {}))
    expect(response.headers.has(name)).toBeTrue();
});

test("every endpoint names its parameter, and all its statuses", () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    const { parameters, responses } = methods.get ?? { parameters: [], responses: {} };
    const [wanted, statuses] = path.startsWith("/users")
      ? [["userId"], ["200", "400", "403", "404", "500"]]
      : path.startsWith("/search")
        ? [["q"], ["200", "400", "429", "500"]]
        : [[], ["200", "500"]];
    expect(parameters.map(({ name }) => name)).toEqual(wanted);
    expect(parameters.every(({ required }) => required)).toBeTrue();
    expect(Object.keys(responses)).toEqual(statuses);
  }
});
