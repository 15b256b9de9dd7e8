/**
 * The floor is a bare `Bun.serve` that does only what src/http/README.md requires for every
 * response. It parses the URL, Accept-Encoding and If-None-Match. It sends a body from memory, with
 * the same headers as Roadbook, a request id and an ETag computed from the body.
 */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

/**
 * The data that `openFloor` collects from Roadbook's own responses. Each body's key is the request
 * path. For a search, the path is followed by the decoded query.
 */
export interface FloorContent {
  bodies: Record<string, string>;
  headers: Record<"users" | "search", Record<string, string>>;
}

const TYPE = "application/json; charset=utf-8";
const MIN_ENCODED_LENGTH = 1024;

const [file = ""] = process.argv.slice(2);
const content: FloorContent = JSON.parse(readFileSync(file, "utf8"));
const bodies = new Map(Object.entries(content.bodies));
// Copying prepared headers is the fastest way to set headers in Bun.
const headers = {
  users: new Headers(content.headers.users),
  search: new Headers(content.headers.search),
};

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    const q = search === "" ? null : new URLSearchParams(search).get("q");
    const body = bodies.get(q === null ? pathname : `${pathname}?q=${q}`);
    if (body === undefined) return new Response(null, { status: 404 });
    const isEncoded =
      request.headers.get("accept-encoding")?.includes("gzip") && body.length > MIN_ENCODED_LENGTH;
    const etag = `"${hash("sha1", body, "base64url")}-${isEncoded ? "gzip" : "identity"}"`;
    const tags = request.headers.get("if-none-match");
    const isKnown = tags !== null && (tags === "*" || tags.includes(etag));
    const response = new Response(isKnown ? null : isEncoded ? Bun.gzipSync(body) : body, {
      status: isKnown ? 304 : 200,
      headers: q === null ? headers.users : headers.search,
    });
    if (!isKnown) response.headers.set("content-type", TYPE);
    if (isEncoded && !isKnown) response.headers.set("content-encoding", "gzip");
    response.headers.set("etag", etag);
    response.headers.set("x-request-id", crypto.randomUUID());
    return response;
  },
});
process.stdout.write(`roadbook listening on ${server.url.origin}\n`);
