/**
 * The document of the API at /docs/json and its page at /docs. The page's script comes from this
 * server, never from another, so it works offline.
 */
import { swagger } from "@elysiajs/swagger";
import { apiVersion } from "../domain/version.ts";
import type { Context } from "./context.ts";
import { components } from "./openapi.ts";
import type { Result } from "./result.ts";
import { DOCS_POLICY } from "./security-headers.ts";

/** Scalar's API reference as one gzip-compressed script. */
export type DocsScript = () => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;

/** The page is for reading: nothing in it calls or advertises another service. */
const scalarConfig = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  defaultOpenAllTags: true,
};

/** The plugin that makes the document and the page of the routes beside it. */
export function documentationPlugin() {
  return swagger({
    path: "/docs",
    specPath: "/docs/json",
    scalarCDN: "/docs/scalar.js",
    scalarConfig: scalarConfig as object,
    documentation: {
      info: {
        title: "Roadbook",
        version: apiVersion.slice(1),
        description:
          "Public driver profiles, their achievements, and search over company and driver names. Read only; every response is JSON. The endpoints of users and search are under /api as well.",
      },
      tags: [
        { name: "Users", description: "Public profiles and what their drivers unlocked" },
        { name: "Search", description: "Companies and drivers by name" },
        { name: "Service", description: "The service itself" },
      ],
      components: components as never,
    },
  });
}

export async function getDocsPage({ service }: Context): Promise<Result> {
  const page = await service.documentation("/docs");
  return { ...page, headers: { "content-security-policy": DOCS_POLICY } };
}

export function getOpenApi({ service }: Context): Promise<Result> {
  return service.documentation("/docs/json");
}

export async function getDocsScript({ service }: Context): Promise<Result> {
  return {
    status: 200,
    type: "text/javascript; charset=utf-8",
    body: await service.docsScript(),
    headers: { "content-encoding": "gzip" },
  };
}

export function redirectToDocs(): Result {
  return { status: 302, type: "", body: null, headers: { location: "/docs" } };
}
