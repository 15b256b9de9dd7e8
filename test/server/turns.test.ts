/** Requests that arrive in a long tick of the event loop wait, and networks and clients take turns. */
import { expect, test } from "bun:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { apiUrlPattern } from "../../src/http/endpoints.ts";
import { takeTurns } from "../../src/server/turns.ts";

const apiUrl = apiUrlPattern("/r.b");
const lookupUrl = apiUrlPattern("/r.b", "Search");

interface Sent {
  origin?: string;
  signal?: AbortSignal;
}

/**
 * Returns a function that sends a request, and the requests that were handled. The first letter of
 * a client is its network.
 */
function open({ path = "/", handle = (_: string): unknown => undefined }) {
  const handled: string[] = [];
  const respondBusy = () => new Response("refused");
  const fetch = async (request: Request) => {
    const name = new URL(request.url).pathname.split("/").at(-1) ?? "";
    handled.push(name);
    await handle(name);
    return new Response(name);
  };
  const clientOf = (_: Request, from: unknown) => {
    const key = String(from);
    return { key, network: key.slice(0, 1), isLimited: true };
  };
  const respond = takeTurns({ fetch, respondBusy, clientOf, apiUrl, lookupUrl });
  const send = async (client: string, name: string, { origin, signal }: Sent = {}) => {
    const url = `${origin ?? "http://roadbook.test"}${path}${name}`;
    return (await respond(new Request(url, { signal: signal ?? null }), client)).text();
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
  // After this, the first request begins a tick.
  work();
  await nextTick();
  const sent = ["a1", "a2", "a3", "b1", "b2", "c1"].map((name) => send(name.slice(0, 1), name));
  setImmediate(() => handled.push("something else"));
  handled.push("end of the tick");
  expect(await Promise.all(sent)).toEqual(["a1", "a2", "a3", "b1", "b2", "c1"]);
  const order = ["a1", "end of the tick", "something else", "a2", "b1", "c1", "a3", "b2"];
  expect(handled).toEqual(order);
});

test("a network with many clients has a turn as often as a network with one", async () => {
  const { handled, send } = open({ handle: work });
  const sent = ["a1", "a1", "a2", "a3", "b1", "b1", "b1", "c1"].map((client) => {
    return send(client, client);
  });
  await Promise.all(sent);
  expect(handled).toEqual(["a1", "b1", "c1", "a2", "b1", "a3", "b1", "a1"]);
});

test.each(["http://roadbook.test", "http://users", "http://search:3000", "http://health"])(
  "a page of %s waits for its turn even in a short tick, and a request to the API does not",
  async (origin) => {
    const { handled, send } = open({});
    const page = send("a", "page", { origin });
    handled.push("end of the tick");
    await page;
    expect(handled).toEqual(["end of the tick", "page"]);
    const api = open({ path: "/users/public/" });
    await nextTick();
    const profile = api.send("a", "profile", { origin });
    api.handled.push("end of the tick");
    await profile;
    expect(api.handled).toEqual(["profile", "end of the tick"]);
  },
);

test("while anything waits, so does a search, but not a profile", async () => {
  const { handled, send } = open({});
  await nextTick();
  const page = send("a", "page");
  const search = send("b", "search/users?q=an");
  const profile = send("c", "users/public/7");
  handled.push("end of the tick");
  await Promise.all([page, search, profile]);
  expect(handled).toEqual(["7", "end of the tick", "page", "users"]);
});

test.each(["", "/api", "/r.b", "/r.b/api"])(
  "below %p, only the paths of the API need not wait, not those with an error page",
  (prefix) => {
    const isApi = (path: string) => apiUrl.test(`http://users:3000${prefix}${path}`);
    for (const path of ["/users/public/67", "/users/x/achievements?a=/b", "/search/users?q=a"]) {
      expect([path, isApi(path)]).toEqual([path, true]);
    }
    const unknown = ["/x/users/y", "/users/y", "/users/public/a%2fb", "/search", "/users/public/"];
    for (const path of [...unknown, "/", "/?q=/health", "/x/search/users", "/rxb/health"]) {
      expect([path, isApi(path)]).toEqual([path, false]);
    }
  },
);

test("a client with 200 waiting requests is refused more, and then served again", async () => {
  const { handled, send } = open({});
  const many = Array.from({ length: 300 }, () => send("a", "many"));
  const others = Array.from({ length: 300 }, (_, at) => send(`b${at}`, "other"));
  const texts = await Promise.all(many);
  expect([texts.indexOf("refused"), texts.lastIndexOf("many")]).toEqual([200, 199]);
  expect(new Set(await Promise.all(others))).toEqual(new Set(["other"]));
  // Every other turn of the network is that of a refusal, which is not handled.
  expect(handled.slice(0, 4)).toEqual(["many", "other", "other", "many"]);
  expect(await send("a", "again")).toBe("again");
});

test("a request whose response is not ready yet counts as waiting", async () => {
  const store = Promise.withResolvers<void>();
  const { handled, send } = open({ handle: () => store.promise });
  const slow = Array.from({ length: 200 }, () => send("a", "slow"));
  // As soon as the last one is in progress, none waits for a turn any more.
  while (handled.length < 200) await nextTick();
  expect(await send("a", "more")).toBe("refused");
  store.resolve();
  expect(new Set(await Promise.all(slow))).toEqual(new Set(["slow"]));
  expect(await send("a", "again")).toBe("again");
});

test("a waiting request whose client leaves is dropped, and its place is free", async () => {
  const { handled, send } = open({});
  const client = new AbortController();
  const left = Array.from({ length: 200 }, () => send("a", "left", { signal: client.signal }));
  const stayed = send("b", "stayed");
  client.abort(new Error("the client has left"));
  const outcomes = (await Promise.allSettled(left)).map(({ status }) => status);
  expect(new Set(outcomes)).toEqual(new Set(["rejected"]));
  expect(await stayed).toBe("stayed");
  expect(await send("a", "again")).toBe("again");
  expect(handled).toEqual(["stayed", "again"]);
});

test("an error of the handler reaches the caller, and others are still served", async () => {
  const { send } = open({
    handle: (name) => name === "bad" && Promise.reject(new Error("a bug")),
  });
  const bad = send("a", "bad");
  const good = send("b", "good");
  await expect(bad).rejects.toThrow("a bug");
  expect(await good).toBe("good");
});

test("a response that takes several ticks does not hold up other clients", async () => {
  const store = Promise.withResolvers<void>();
  const { send } = open({ handle: (name) => name === "slow" && store.promise });
  const slow = send("a", "slow");
  expect(await send("b", "fast")).toBe("fast");
  store.resolve();
  expect(await slow).toBe("slow");
});
