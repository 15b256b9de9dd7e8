/** Requests that arrive in a long tick of the event loop wait, and clients take turns. */
import { expect, test } from "bun:test";
import { takeTurns } from "../../src/server/turns.ts";

/** Returns a function that sends a request of a client, and the requests that were handled. */
function open({ path = "/", handle = (_: string): unknown => undefined }) {
  const handled: string[] = [];
  const fetch = async (request: Request, _?: unknown, isRefused?: boolean) => {
    if (isRefused) return new Response("refused");
    const name = new URL(request.url).pathname.split("/").at(-1) ?? "";
    handled.push(name);
    await handle(name);
    return new Response(name);
  };
  const respond = takeTurns({ fetch, clientOf: (_, from) => String(from) });
  const send = async (client: string, name: string) => {
    const request = new Request(`http://roadbook.test${path}${name}`);
    return (await respond(request, client)).text();
  };
  return { handled, send };
}

/** Keeps the event loop busy for longer than a tick may last. */
function work(): void {
  const endMs = performance.now() + 10;
  while (performance.now() < endMs);
}

test("in a long tick, requests wait for later ticks, and clients take turns", async () => {
  const { handled, send } = open({ path: "/users/public/", handle: work });
  const sent = ["a1", "a2", "a3", "b1", "b2", "c1"].map((name) => send(name.slice(0, 1), name));
  setImmediate(() => handled.push("something else"));
  handled.push("end of the tick");
  expect(await Promise.all(sent)).toEqual(["a1", "a2", "a3", "b1", "b2", "c1"]);
  const order = ["a1", "end of the tick", "something else", "a2", "b1", "c1", "a3", "b2"];
  expect(handled).toEqual(order);
});

test("a client with 200 waiting requests is refused more, and then served again", async () => {
  const { handled, send } = open({});
  const many = Array.from({ length: 300 }, () => send("a", "many"));
  const others = Array.from({ length: 300 }, (_, at) => send(`b${at}`, "other"));
  const texts = await Promise.all(many);
  expect([texts.indexOf("refused"), texts.lastIndexOf("many")]).toEqual([200, 199]);
  expect(new Set(await Promise.all(others))).toEqual(new Set(["other"]));
  expect(handled.slice(0, 3)).toEqual(["many", "other", "other"]);
  expect(await send("a", "again")).toBe("again");
});

test("a response that takes several ticks does not hold up other clients", async () => {
  const store = Promise.withResolvers<void>();
  const { send } = open({ handle: (name) => name === "slow" && store.promise });
  const slow = send("a", "slow");
  expect(await send("b", "fast")).toBe("fast");
  store.resolve();
  expect(await slow).toBe("slow");
});
