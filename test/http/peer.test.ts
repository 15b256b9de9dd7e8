/** Tests that a request's client is found in the argument that each runtime passes to `fetch`. */
import { afterEach, expect, test } from "bun:test";
import { createRoadbook, type Roadbook } from "../../src/library.ts";
import { community } from "../datasets.ts";

const SEARCH = "http://roadbook.test/search/users?q=nowak";
let roadbook: Roadbook;
afterEach(() => roadbook.close());

const fails = () => {
  throw new Error("no address");
};
const statusesFor = async (from: unknown) => {
  roadbook = await createRoadbook({ dataset: community, searchLimit: 1 });
  const search = async (from: unknown) => (await roadbook.fetch(new Request(SEARCH), from)).status;
  return [await search(from), await search(from), await search("192.0.2.1")];
};

test.each<[string, unknown]>([
  ["an address", "192.0.2.1"],
  ["a function", () => "192.0.2.1"],
  ["Bun's server", { requestIP: (request: Request) => request && { address: "192.0.2.1" } }],
  ["Deno's info", { remoteAddr: { transport: "tcp", hostname: "192.0.2.1", port: 1 } }],
  ["Hono's env on Node", { incoming: { socket: { remoteAddress: "192.0.2.1" } }, outgoing: {} }],
])("%s identifies the client", async (_, from) => {
  expect(await statusesFor(from)).toEqual([200, 429, 429]);
});

test.each<[string, unknown]>([
  ["a function that throws", fails],
  ["an asynchronous function", async () => "192.0.2.1"],
])("with %s, all clients count as one", async (_, from) => {
  expect(await statusesFor(from)).toEqual([200, 429, 200]);
});

test("with anything else, searches are not counted", async () => {
  const getter = Object.defineProperty({}, "requestIP", { get: fails });
  for (const from of [undefined, null, "", 7, { params: {} }, ["192.0.2.1"], getter]) {
    expect(await statusesFor(from)).toEqual([200, 200, 200]);
    await roadbook.close();
  }
});
