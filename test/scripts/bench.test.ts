/** What the figures of the benchmarks rest on: the statistics, and the client that sends at set times. */
import { expect, test } from "bun:test";
import { alternate, compare, figureOf, median, quantile } from "../../scripts/bench/measure.ts";
import { loadOpen } from "../../scripts/bench/open-loop.ts";

test("a figure is the median and its spread", () => {
  expect(figureOf([3, 1, 10])).toEqual({ median: 3, least: 1, most: 10 });
  expect(median([4, 1, 2, 9])).toBe(3);
});

test("a quantile is the least value that so large a share does not exceed", () => {
  const values = Array.from({ length: 1000 }, (_, at) => 1000 - at);
  expect([0.5, 0.99, 0.999, 1].map((share) => quantile(values, share))).toEqual([
    500, 990, 999, 1000,
  ]);
  expect(quantile([7], 0.5)).toBe(7);
});

test("a ratio is of each round, and says how many times as good ours is, or what it costs", () => {
  const sides = { name: "a", beside: "b", unit: "u", ours: [10, 20, 50], theirs: [20, 20, 20] };
  const ratio = (as: "rate" | "time" | "cost") => compare({ ...sides, as }).measured?.ratio;
  expect(ratio("rate")).toEqual({ median: 1, least: 0.5, most: 2.5 });
  expect(ratio("time")).toEqual({ median: 1, least: 0.4, most: 2 });
  expect(ratio("cost")).toEqual({ median: 1, least: 0.5, most: 2.5 });
});

test("rounds go forth and back", async () => {
  const order: string[] = [];
  const values = await alternate(3, { a: "a", b: "b" }, (name) => order.push(name));
  expect(order.join("")).toBe("abbaab");
  expect([values("a"), values("b")]).toEqual([
    [1, 4, 5],
    [2, 3, 6],
  ]);
});

/** Responds to one request at a time. */
function openSlow(ms: number) {
  let last = Promise.resolve();
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch() {
      last = last.then(() => Bun.sleep(ms));
      await last;
      return new Response("slow");
    },
  });
}

test("a latency counts from the time a request was due, whatever held it up", async () => {
  await using server = openSlow(5);
  const load = { origin: server.url.origin, paths: ["/"], perSecond: 500, connections: 2 };
  const { latenciesMs } = await loadOpen({ ...load, seconds: 0.1 });
  // Fifty were due in 100 ms and took 250 or more; who asked after each answer would see 10 ms.
  expect(latenciesMs).toHaveLength(50);
  expect(Math.max(...latenciesMs)).toBeGreaterThan(145);
});

test("requests that are never sent have waited all the same", async () => {
  await using server = openSlow(100);
  const load = { origin: server.url.origin, paths: ["/"], perSecond: 200, connections: 2 };
  const { latenciesMs, answeredPerSecond } = await loadOpen({ ...load, seconds: 0.5 });
  expect(latenciesMs).toHaveLength(100);
  expect(quantile(latenciesMs, 0.5)).toBeGreaterThan(490);
  expect(answeredPerSecond).toBeLessThan(100);
});

test("an answer that is an error is no answer", async () => {
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("no", { status: 500 }),
  });
  const load = { origin: server.url.origin, paths: ["/"], perSecond: 100, seconds: 0.1 };
  await expect(loadOpen(load)).rejects.toThrow("HTTP/1.1 500");
});
