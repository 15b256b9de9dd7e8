/**
 * Serves the API reference: its page at /docs, the OpenAPI document at /docs/json, and the script
 * of the page. The page loads nothing from other servers, so it works offline.
 */
import { type AnyElysia, Elysia } from "elysia";
import { LRUCache } from "lru-cache";
import { apiVersion } from "../domain/version.ts";
import { components, ORIGIN, preflightResponses } from "./openapi.ts";
import { Content, JSON_TYPE } from "./result.ts";
import type { Service } from "./service.ts";

/** Returns Scalar's API reference as a single gzip-compressed script. */
export type DocsScript = () => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;

export interface DocsService extends Pick<Service, "baseUrl" | "basePath"> {
  publicUrl: string | undefined;
  docsScript: DocsScript;
}

/** `documented` contains the routes that the OpenAPI document describes. */
export function docs(service: DocsService, documented: AnyElysia) {
  const { baseUrl, docsScript } = service;
  let reference: Promise<Reference> | undefined;
  function render(): Promise<Reference> {
    reference ??= renderReference(service, documented);
    return reference;
  }
  /** The documents for the base URLs under which clients reach the server, usually one or two. */
  const documents = new LRUCache<string, Promise<Content>>({ max: 10, memoMethod: renderFor });
  async function renderFor(baseUrl: string): Promise<Content> {
    const { document } = await render();
    const url = JSON.stringify(baseUrl).slice(1, -1);
    const text = document.replaceAll(ORIGIN, () => url);
    return new Content(JSON_TYPE, text, { cache: "public", isShared: true });
  }
  let script: Promise<Content> | undefined;
  return new Elysia({ strictPath: true })
    .get("/docs", async () => (await render()).page)
    .get("/docs/json", async ({ request }) => await documents.memo(baseUrl(request)))
    .get("/docs/scalar.js", async () => {
      script ??= readScript(docsScript);
      return await script;
    });
}

interface Reference {
  page: Content;
  /** The OpenAPI document as JSON, with {@link ORIGIN} in place of the base URL. */
  document: string;
}

/** Takes the page and the document from the swagger plugin. */
async function renderReference(
  { publicUrl, basePath }: DocsService,
  documented: AnyElysia,
): Promise<Reference> {
  // Loaded on demand, because most servers never serve the reference.
  const { swagger } = await import("@elysiajs/swagger");
  const plugin = swagger({
    path: "/docs",
    specPath: "/docs/json",
    scalarCDN: `${basePath}/docs/scalar.js`,
    scalarConfig: configurationFor(basePath) as object,
    documentation: documentation as object,
  });
  const app = new Elysia().use(plugin).use(documented);
  const read = async (path: string) => (await app.handle(new Request(ORIGIN + path))).text();
  const html = (await read("/docs"))
    .replace("<html>", '<html lang="en">')
    .replace(' data-url="undefined"', "")
    // The policy forbids inline scripts, and even white space is one.
    .replace(/>\s+<\/script>/, "></script>");
  const headers = { "content-security-policy": policyOf(publicUrl) };
  return {
    page: new Content("text/html; charset=utf-8", html ?? "", {
      cache: "public",
      headers,
      isShared: true,
    }),
    document: JSON.stringify(describeMethods(JSON.parse(await read("/docs/json")))),
  };
}

/** The parts of the document that no route describes. */
const documentation = {
  // The plugin's default is 3.0.3, but the schemas need 3.1.
  openapi: "3.1.0",
  info: {
    title: "Roadbook",
    description:
      "Public driver profiles, their achievements, and search by company or driver name. " +
      "The API is read-only, and every response is JSON. The endpoints of users and search also " +
      "exist under /api. Every path supports GET, HEAD and OPTIONS. Both searches share one " +
      "budget per client.",
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
  components,
};

/** A GET operation in the document, made by `describeOperation`. */
interface DescribedGet {
  operationId: string;
  summary: string;
  parameters?: { in: string; example?: unknown }[];
  responses: Record<string, { content?: object }>;
}

/** Completes a document whose routes have only GET. */
function describeMethods(document: { paths: Record<string, { get: DescribedGet }> }) {
  const paths = Object.entries(document.paths).map(([path, { get }]) => [path, allMethods(get)]);
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Adds HEAD, which is GET without a body, and OPTIONS, which is a browser's preflight. */
function allMethods(get: DescribedGet) {
  const { operationId, summary, parameters = [], responses, ...common } = get;
  const hidden = { ...common, "x-scalar-ignore": true };
  const headResponses = Object.entries(responses)
    .filter(([status]) => status !== "405")
    .map(([status, { content: _, ...head }]) => [status, head]);
  // A preflight accepts any path parameter and takes no query.
  const anyValue = { required: true, schema: { type: "string" } };
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  return {
    get,
    head: {
      ...hidden,
      parameters,
      operationId: `${operationId}Head`,
      summary: `${summary}: headers only`,
      description: "Returns the response of GET without its body, and counts like GET.",
      responses: Object.fromEntries(headResponses),
    },
    options: {
      ...hidden,
      operationId: `${operationId}Options`,
      summary: `${summary}: preflight`,
      description: "Responds to the preflight of a browser. Never counts against the search limit.",
      parameters: inPath.map((one) => ({ ...one, ...anyValue, example: `${one.example}` })),
      responses: preflightResponses,
    },
  };
}

async function readScript(docsScript: DocsScript): Promise<Content> {
  const type = "text/javascript; charset=utf-8";
  return new Content(type, await docsScript(), { cache: "public", coding: "gzip", isShared: true });
}

/**
 * Scalar adds inline styles to the page, and its sample requests go to the public URL, which may
 * have another origin. Everything else comes from this server.
 */
function policyOf(publicUrl: string | undefined): string {
  const connect = publicUrl === undefined ? "'self'" : `'self' ${new URL(publicUrl).origin}`;
  return (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; " +
    `font-src 'self' data:; connect-src ${connect}; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}

/**
 * Fixes accessibility problems that axe reports in Scalar's style: colours below WCAG's minimum
 * contrast of 4.5, and buttons whose only name is hidden until the mouse hovers over them.
 */
const customCss = `
.light-mode {
  --scalar-color-2: #4a4a4a; --scalar-color-3: #666; --scalar-color-blue: #0065a8;
  --scalar-color-green: #0a6b34; --scalar-color-orange: #9a4a00; --scalar-color-red: #b3141d;
  --scalar-color-purple: #6139b8; --scalar-color-yellow: #7a5a00;
}
.dark-mode { --scalar-color-3: #a0a0a0 }
.scalar-code-copy .sr-only > .hidden { display: inline }
`;

/** Turns off everything that calls or advertises another service. */
function configurationFor(basePath: string) {
  return {
    // The plugin would set `spec.url`, about which Scalar warns that `url` has replaced it.
    spec: undefined,
    url: `${basePath}/docs/json`,
    favicon: `${basePath}/favicon.svg`,
    customCss,
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: "never",
    hideClientButton: true,
    defaultOpenAllTags: true,
  };
}
