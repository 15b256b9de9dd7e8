/**
 * Checks the status, headers and body of every response from a documented path against the OpenAPI
 * document. The validator (Ajv) shares no code with the product, and allows no undocumented fields
 * or headers.
 */
import { gunzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { createRoadbook } from "../src/roadbook.ts";

export interface ResponseObject {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, { schema: Schema; example?: unknown; examples?: object }>;
}

export interface OperationObject {
  operationId: string;
  parameters?: { name: string; in: string; required: boolean; schema: Schema; example: unknown }[];
  responses: Record<string, ResponseObject>;
}

export interface OpenApiDocument {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, { required?: boolean; schema: Schema }>;
  };
}

type Schema = Record<string, unknown>;

export async function readDocument(url: string): Promise<OpenApiDocument> {
  await using roadbook = await createRoadbook({ dataset: [], publicUrl: url });
  return (await roadbook.fetch(new Request("http://localhost/docs/json"))).json();
}

/** Headers that belong to HTTP itself, which the document omits. */
const headersOfHttp = new Set(
  "connection content-length content-type date keep-alive transfer-encoding".split(" "),
);

const document = await readDocument("http://roadbook.test");
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: "document", components: strict(document.components) });

const templates = Object.keys(document.paths).map((path) => ({
  path,
  pattern: new RegExp(`^(?:/api)?${path.replace(/\{\w+\}/g, "[^/]+")}$`),
}));

/** Returns the response if it is as documented or its path is undocumented. Otherwise throws. */
export async function checkResponse(
  { url, method }: { url: string; method: string },
  response: Response,
): Promise<Response> {
  const { pathname } = new URL(url);
  const template = templates.find(({ pattern }) => pattern.test(pathname));
  if (!template || (pathname.startsWith("/api/") && template.path === "/health")) return response;
  const { status, headers } = response;
  // The document describes preflights in words.
  if (method === "OPTIONS" && status === 204) return response;
  const key = `${method} ${template.path} ${status}`;
  const problems: string[] = [];
  const validators = validatorsOf(template.path, method, status);
  if (!validators) throw new Error(`${key} is not in the document`);
  for (const [name, { required, isNumber, validate }] of validators.headers) {
    const value = headers.get(name);
    if (value === null) {
      if (required) problems.push(`${name} is missing`);
    } else if (!validate(isNumber ? Number(value) : value)) {
      problems.push(`${name}: ${value}: ${ajv.errorsText(validate.errors)}`);
    }
  }
  headers.forEach((_, name) => {
    if (!validators.headers.has(name) && !headersOfHttp.has(name))
      problems.push(`${name} is not in the document`);
  });
  if (method !== "HEAD" && response.body !== null) {
    const text = decode(new Uint8Array(await response.clone().arrayBuffer()), headers);
    const { body } = validators;
    if (!body) {
      if (text !== "") problems.push(`a body: ${text}`);
    } else if (!body(JSON.parse(text))) {
      problems.push(`${ajv.errorsText(body.errors)}: ${text}`);
    }
  }
  if (problems.length > 0) throw new Error(`${key}: ${problems.join("; ")}`);
  return response;
}

const cached = new Map<string, ReturnType<typeof createValidators>>();

function validatorsOf(path: string, method: string, status: number) {
  const key = `${method} ${path} ${status}`;
  if (!cached.has(key)) cached.set(key, createValidators(path, method, status));
  return cached.get(key);
}

/** Returns a validator of the body, and of each header by its lower-case name. */
function createValidators(path: string, method: string, status: number) {
  const methods = document.paths[path] ?? {};
  // An unsupported method gets the 405 response that is documented for GET.
  const { responses = {} } = methods[method.toLowerCase()] ?? methods.get ?? {};
  // A 304 is like a 200 without a body. It is not in the document.
  const { "Content-Encoding": _, ...kept } = responses[200]?.headers ?? {};
  const unchanged = kept.ETag && { description: "Unchanged", headers: kept };
  const described: ResponseObject | undefined = status === 304 ? unchanged : responses[status];
  if (!described) return undefined;
  const schema = described.content?.["application/json"]?.schema;
  const headers = Object.keys(described.headers ?? {}).map((name) => {
    const header = document.components.headers[name];
    if (!header) throw new Error(`no header ${name}`);
    const validators = {
      required: header.required ?? false,
      isNumber: header.schema.type === "integer",
      validate: ajv.compile(header.schema),
    };
    return [name.toLowerCase(), validators] as const;
  });
  return { headers: new Map(headers), body: schema && ajv.compile(strict(schema)) };
}

/** Makes schemas reject undocumented fields, and points references at the document. */
function strict<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(strict) as Value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    key === "$ref" ? `document${inner}` : strict(inner),
  ]);
  const copy = Object.fromEntries(entries);
  return copy.type === "object" ? { ...copy, additionalProperties: false } : copy;
}

/** Decodes a body that `fetch` has not decoded. `fetch` keeps the Content-Encoding header. */
function decode(bytes: Uint8Array, headers: Headers): string {
  const isCoded = headers.get("content-encoding") === "gzip" && bytes[0] !== 0x7b;
  const plain = isCoded ? gunzipSync(bytes) : bytes;
  return new TextDecoder().decode(plain);
}
