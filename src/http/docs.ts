/**
 * The document of the API at /docs/json and its page at /docs. The page's script comes from this
 * server, never from another, so it works offline.
 */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { apiVersion } from "../domain/version.ts";
import { components } from "./openapi.ts";

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

/** Scalar writes its styles into the page; everything else comes from this server or not at all. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function docsRoutes(docsScript: DocsScript) {
  return new Elysia()
    .use(
      swagger({
        path: "/docs",
        specPath: "/docs/json",
        scalarCDN: "/docs/scalar.js",
        scalarConfig: scalarConfig as object,
        documentation: {
          info: {
            title: "Roadbook",
            version: apiVersion.slice(1),
            description:
              "Public driver profiles, their achievements, and search over company and driver names. Read only; every answer is JSON. The endpoints of users and search answer under /api as well.",
          },
          tags: [
            { name: "Users", description: "Public profiles and what their drivers unlocked" },
            { name: "Search", description: "Companies and drivers by name" },
            { name: "Service", description: "The service itself" },
          ],
          components: components as never,
        },
      }),
    )
    .get(
      "/docs/scalar.js",
      async () =>
        new Response(await docsScript(), {
          headers: {
            "content-type": "text/javascript; charset=utf-8",
            "content-encoding": "gzip",
            "cache-control": "max-age=3600",
          },
        }),
      { detail: { hide: true } },
    );
}
