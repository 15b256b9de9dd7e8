/** What is taken for a store, and what a limiter does with one that is none. */
import { describe, expect, test } from "bun:test";
import { isStoreUrl, openSharedLimiter } from "../../src/limit/redis.ts";

describe("what is no store is down, and memory decides", () => {
  test.each([
    ["says OK to anything", "+OK\r\n", "what the store says is no decision"],
    ["is an HTTP server", "HTTP/1.1 400 Bad Request\r\n\r\n", "no connection"],
    ["sends three numbers that are none of a decision", "*3\r\n:1\r\n:99\r\n:-1\r\n", undefined],
    ["promises an array past all memory", "*2147483647\r\n", undefined],
    ["promises a string past all memory", "$9999999999\r\nab", undefined],
    ["nests arrays without end", "*1\r\n".repeat(100_000), undefined],
    ["says nothing", "", "no response within 1000 ms"],
  ])("when it %s", async (_, reply, reason) => {
    const fake = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          socket.write(reply);
        },
      },
    });
    const events: string[] = [];
    const limiter = await openSharedLimiter({
      url: `redis://127.0.0.1:${fake.port}`,
      limit: 2,
      windowMs: 60_000,
      maxClients: 10,
      onDown: (reason) => events.push(reason),
      onUp: () => events.push("up"),
    });
    try {
      expect(events).toEqual([reason ?? expect.not.stringMatching(/^up$/)]);
      expect(limiter.consume("a")).toMatchObject({ allowed: true, remaining: 1 });
      expect(limiter.consume("a")).toMatchObject({ allowed: true, remaining: 0 });
      expect(limiter.consume("a")).toMatchObject({ allowed: false, resetMs: expect.any(Number) });
    } finally {
      limiter.close();
      fake.stop(true);
    }
  });

  test("a store that turns into one is", async () => {
    // To the handshake it is a Redis, then to two probes; after that it only says OK.
    const [hello, decision] = ["%1\r\n$5\r\nproto\r\n:3\r\n", "*3\r\n:1\r\n:0\r\n:1\r\n"];
    const replies = [hello, decision, decision];
    const fake = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          socket.write(replies.shift() ?? "+OK\r\n");
        },
      },
    });
    const events: string[] = [];
    const limiter = await openSharedLimiter({
      url: `redis://127.0.0.1:${fake.port}`,
      limit: 1,
      windowMs: 60_000,
      maxClients: 10,
      onDown: (reason) => events.push(reason),
      onUp: () => events.push("up"),
    });
    expect(await limiter.consume("a")).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.consume("a")).toMatchObject({ allowed: false });
    expect(events).toEqual(["up", "what the store says is no decision"]);
    limiter.close();
    fake.stop(true);
  });
});

describe("a store's URL", () => {
  test.each([
    "redis://127.0.0.1",
    "redis://user:p%40ss@store.example:6380/2",
    "rediss://:secret@store.example",
    "valkey://[::1]:6379",
  ])("%p is taken", (url) => {
    expect(isStoreUrl(url)).toBe(true);
  });

  test.each([
    "",
    "redis://",
    "store.example:6379",
    "http://:secret@store.example",
    "redis://:secret@:6379",
    "redis://:sec ret@store example",
    "redis://:12/secret@store.example",
    "redis://user:12/secret@store.example",
    "redis://user:secret/34@store.example",
    "redis://store.example:6379/secret",
    "redis://user:12#secret@store.example",
    "redis://user:12?secret@store.example",
  ])("%p is refused", (url) => {
    expect(isStoreUrl(url)).toBe(false);
  });
});
