/** Tests that a request's client is found in the argument that each runtime passes to `fetch`. */
import { expect, test } from "bun:test";
import { createRoadbook } from "../../src/library.ts";
import { community } from "../datasets.ts";

const fails = () => {
  throw new Error("no address");
};
const address = "192.0.2.1";
const getter = Object.defineProperty({}, "requestIP", { get: fails });
const others = [undefined, null, "", 7, { params: {} }, [address], getter];

/** The third search comes from 192.0.2.1. Each client may make one search. */
test.each<[what: string, from: unknown, statuses: number[]]>([
  ["an address", address, [200, 429, 429]],
  ["a function", () => address, [200, 429, 429]],
  ["Bun's server", { requestIP: (request: Request) => request && { address } }, [200, 429, 429]],
  ["Deno's info", { remoteAddr: { hostname: address, port: 1 } }, [200, 429, 429]],
  ["Hono's env on Node", { incoming: { socket: { remoteAddress: address } } }, [200, 429, 429]],
  // Such clients count as one.
  ["a function that throws", fails, [200, 429, 200]],
  ["an asynchronous function", async () => address, [200, 429, 200]],
  // Such searches are not counted.
  ...others.map((other): [string, unknown, number[]] => [String(other), other, [200, 200, 200]]),
])("from %s, searches are a %p", async (_, from, statuses) => {
  await using roadbook = await createRoadbook({ dataset: community, searchLimit: 1 });
  for (const [at, status] of statuses.entries()) {
    const request = new Request("http://roadbook.test/search/users?q=nowak");
    expect((await roadbook.fetch(request, at < 2 ? from : address)).status).toBe(status);
  }
});
