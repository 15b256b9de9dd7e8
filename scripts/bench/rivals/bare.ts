/** The least that a server under Bun can do: one response, whatever is asked. For `bench http`. */
import { readFileSync } from "node:fs";

const [file = ""] = process.argv.slice(2);
const { status, headers, body } = JSON.parse(readFileSync(file, "utf8"));
// Prepared, as copying them is the fastest way that Bun has.
const prepared = new Headers(headers);
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  fetch: () => new Response(body || null, { status, headers: prepared }),
});
process.stdout.write(`roadbook listening on ${server.url.origin}\n`);
