/**
 * The OpenAPI document is complete, and its examples are real responses. Checking the tests'
 * responses against the document detects every deviation.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RulesetDefinition, Spectral } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";
import { ORIGIN } from "../../src/http/openapi.ts";
import { createRoadbook, demoSnapshot } from "../../src/roadbook.ts";
import { checkResponse, type OpenApiDocument, readDocument } from "../openapi.ts";
import { fixture, openInProcess, type Target } from "../support.ts";

const origin = "http://roadbook.test";
const document = await readDocument(origin);
const operations = Object.entries(document.paths).map(([path, { get }]) => {
  if (!get) throw new Error(`${path} has no GET`);
  return [path, get] as const;
});

test("every endpoint describes its parameter and all statuses with a body", () => {
  expect(operations).toHaveLength(5);
  for (const [path, { parameters = [], responses }] of operations) {
    const [expected, statuses] = path.startsWith("/users")
      ? [["userId"], [200, 400, 403, 404, 405, 500, 503]]
      : path.startsWith("/search")
        ? [["q"], [200, 400, 405, 429, 500, 503]]
        : [[], [200, 405, 500, 503]];
    expect(parameters.map(({ name }) => name)).toEqual(expected);
    expect(parameters.every(({ required }) => required)).toBeTrue();
    expect(Object.keys(responses)).toEqual(statuses.map(String));
  }
});

test("every error response has an example of each of its codes, and of no other", () => {
  const codesAt = (path: string, status: number) => {
    const operation = operations.find(([each]) => each === path)?.[1];
    const { examples = {} } = operation?.responses[status]?.content?.["application/json"] ?? {};
    return Object.values(examples).map(({ value }) => value.error.code);
  };
  expect(codesAt("/search/users", 400)).toEqual(["invalid_query"]);
  expect(codesAt("/search/users", 429)).toEqual(["rate_limited"]);
  expect(codesAt("/users/public/{userId}", 400)).toEqual(["invalid_user_id"]);
  expect(codesAt("/users/public/{userId}", 404)).toEqual(["user_not_found"]);
  expect(codesAt("/health", 503)).toEqual(["unavailable"]);
});

test("no schema has the name of a global, which a generated client would hide", () => {
  const names = Object.keys(document.components?.schemas ?? {});
  expect(names).toContain("ApiError");
  expect(names.filter((name) => name in globalThis)).toEqual([]);
});

test("Spectral finds no problem", async () => {
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [oas as RulesetDefinition] });
  const problems = await spectral.run({ ...document });
  expect(problems.map(({ code, path, message }) => `${code}: ${path}: ${message}`)).toEqual([]);
});

test("the server URL is the public URL, or the request's origin", async () => {
  const serversAt = async (origin: string, publicUrl?: string) => {
    await using roadbook = await createRoadbook({ dataset: [], ...(publicUrl && { publicUrl }) });
    const texts: string[] = [];
    for (const from of [origin, "https://other.example", origin]) {
      const response = await roadbook.fetch(new Request(`${from}/docs/json`));
      const { servers }: OpenApiDocument = await response.json();
      texts.push(servers.map(({ url }) => url).join(" "));
    }
    return texts;
  };
  const urls = (base: string) => `${base} ${base}/api`;
  const own = urls("https://a.example:8443");
  const other = urls("https://other.example");
  expect(await serversAt("https://a.example:8443")).toEqual([own, other, own]);
  const fixed = urls("https://api.example.org/rb");
  const publicUrl = "https://api.example.org/rb/";
  expect(await serversAt("http://a.example", publicUrl)).toEqual([fixed, fixed, fixed]);
});

test("any title is the document's, and escaped on the page", async () => {
  const title = "A\nclub</title><b>&$&";
  await using roadbook = await createRoadbook({ dataset: [], page: true, title });
  const get = async (path: string) => roadbook.fetch(new Request(`http://a.example${path}`));
  const page = await (await get("/docs")).text();
  expect(page).toContain("<title>API · A\nclub&lt;/title&gt;&lt;b&gt;&amp;$&amp;</title>\n");
  expect(page).not.toContain("<b>");
  expect((await (await get("/docs/json")).json()).info.title).toBe(title);
});

describe("an example", () => {
  let demo: Target;
  beforeAll(async () => {
    demo = await openInProcess({ snapshot: await demoSnapshot(), searchLimit: 30 });
  });
  afterAll(() => demo.close());

  test.each(operations)("of %s is the demo's response", async (path, operation) => {
    const { parameters: [parameter] = [], responses } = operation;
    const value = encodeURIComponent(String(parameter?.example));
    const query = parameter?.in === "query" ? `?${parameter.name}=${value}` : "";
    const response = await demo.fetch(path.replace(/\{\w+\}/, value) + query);
    expect(response.status).toBe(200);
    const text = await response.text();
    const body = JSON.parse(text);
    // The demo's build time, and with it the checksum, differs between executables.
    const example = responses[200]?.content?.["application/json"]?.example;
    const built = body.snapshot && {
      version: expect.any(String),
      snapshot: { ...body.snapshot, built_at: expect.any(String), sha256: expect.any(String) },
    };
    const line = `"${operation.operationId}": ${text.replaceAll(demo.origin, ORIGIN)}`;
    const cure = `put this into data/examples.json: ${line}`;
    expect(example, cure).toEqual({ ...body, ...built });
  });
});

test("a response that differs from the document fails its test", async () => {
  await using roadbook = await createRoadbook({ dataset: fixture });
  const request = new Request(`${origin}/users/public/45`);
  const good = await roadbook.fetch(request);
  const text = await good.text();
  const extra = { "x-powered-by": "us" };
  for (const [body, headers, status] of [
    [text, {}, 201],
    [text.replace('"id"', '"age":3,"id"'), {}, 200],
    [text.replace(origin, ""), {}, 200],
    [text, extra, 200],
    [text, { etag: undefined }, 200],
  ] as const) {
    const changed = Object.entries({ ...Object.fromEntries(good.headers), ...headers });
    const given = changed.filter((entry): entry is [string, string] => entry[1] !== undefined);
    await expect(
      checkResponse(request, new Response(body, { status, headers: given })),
    ).rejects.toThrow(`GET /users/public/{userId} ${status}`);
  }
  await checkResponse(request, new Response(text, good));
});
