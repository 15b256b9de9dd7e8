/** `roadbook.listener` in a `node:http` server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createRoadbook, type NodeListener, type Roadbook } from "../../src/library.ts";
import { createNodeListener } from "../../src/server/node-listener.ts";
import { community } from "../datasets.ts";
import { converse, dial } from "../sockets.ts";
import { until } from "../support.ts";

let roadbook: Roadbook;
const servers: Server[] = [];
let alone = "";

async function serve(listener: NodeListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  roadbook = await createRoadbook({ dataset: community, faults: ["achievements:close"] });
  alone = await serve(roadbook.listener);
});
afterAll(async () => {
  for (const server of servers) server.close();
  await roadbook.close();
});

test("a handler can read the body of a request", async () => {
  const origin = await serve(
    createNodeListener(async ({ body }) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of body ?? []) chunks.push(chunk);
      return new Response(Buffer.concat(chunks));
    }),
  );
  const response = await fetch(origin, { method: "PUT", body: "[]" });
  expect(await response.text()).toBe("[]");
});

test("a body that a handler leaves unread holds up neither its response nor the next request", async () => {
  const large = "x".repeat(1_000_000);
  const origin = await serve(
    createNodeListener(async ({ method, body }) => {
      // Reads one chunk and stops.
      if (method === "PUT") for await (const _ of body ?? []) break;
      return new Response(method);
    }),
  );
  const head = (method: string, length: number) =>
    `${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
  const last = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const parts = ["PUT", "POST"].flatMap((method) => [head(method, large.length), large]);
  const { responses } = await converse({ origin }, ...parts, last);
  expect(responses.map(({ body }) => body)).toEqual(["PUT", "POST", "GET"]);
});

test("a response has its headers, its length and the client's count", async () => {
  const response = await fetch(`${alone}/search/users?q=nowak`);
  expect([response.status, response.headers.get("x-ratelimit-remaining")]).toEqual([200, "29"]);
  const head = await fetch(`${alone}/users/public/42`, { method: "HEAD" });
  const get = await fetch(`${alone}/users/public/42`);
  const length = String((await get.bytes()).length);
  expect(head.headers.get("content-length")).toBe(length);
  const headers = { "if-none-match": get.headers.get("etag") ?? "" };
  expect((await fetch(`${alone}/users/public/42`, { headers })).status).toBe(304);
});

test("a close fault closes the connection", async () => {
  await expect(fetch(`${alone}/users/42/achievements`)).rejects.toThrow();
});

test("the Host header chooses neither the path nor the query", async () => {
  const ask = async (host: string) => {
    const head = `GET /users/public/42 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    const { responses } = await converse({ origin: alone }, head);
    return responses.map(({ status, body }) => [status, JSON.parse(body).user?.id]);
  };
  for (const host of [
    "a.example:8080",
    "[::1]:80",
    "",
    "a/search/users?q=no#",
    "a?",
    "a\\b",
    "@a",
  ]) {
    expect([host, ...(await ask(host))]).toEqual([host, [200, 42]]);
  }
});

test.each(["a.example", "a:b", "a:99999", "[::"])(
  "with the host %s, dot segments are resolved for every method, as on Bun",
  async (host) => {
    for (const url of ["/users/../health", "/%2e%2e/./health", "/nope/..\\health?a=/../b"]) {
      // Bun's own `node:http` resolves them before the listener is called.
      const origin = await serve((incoming, outgoing) => {
        incoming.headers.host = host;
        roadbook.listener(Object.assign(incoming, { url }), outgoing);
      });
      const ask = async (method: string) => (await fetch(origin, { method })).status;
      const statuses = [await ask("GET"), await ask("HEAD"), await ask("POST")];
      expect([url, ...statuses]).toEqual([url, 200, 200, 405]);
    }
  },
);

test("a handler notices a client that has left, and only such a client", async () => {
  const signals: AbortSignal[] = [];
  const responded = Promise.withResolvers<void>();
  const origin = await serve(
    createNodeListener(async ({ url, signal }) => {
      signals.push(signal);
      if (url.endsWith("/slow")) await responded.promise;
      return new Response("done");
    }),
  );
  for (let times = 0; times < 2; times++) expect(await (await fetch(origin)).text()).toBe("done");
  const socket = await dial({ origin });
  socket.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => signals.length === 3);
  socket.destroy();
  await until(() => signals[2]?.aborted);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, true]);
  responded.resolve();
  expect(await (await fetch(origin)).text()).toBe("done");
});
