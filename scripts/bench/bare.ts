/** The least that a server under Bun can do: one body, whatever is asked. For `bench http`. */
import { readFileSync } from "node:fs";

const [file = ""] = process.argv.slice(2);
const body = readFileSync(file, "utf8");
const headers = { "content-type": "application/json; charset=utf-8" };
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  fetch: () => new Response(body, { headers }),
});
process.stdout.write(`roadbook listening on ${server.url.origin}\n`);
