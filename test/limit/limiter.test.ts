/** Owns the facts of the limiter in memory that are not the window's. */
import { expect, test } from "bun:test";
import { createLimiter } from "../../src/limit/limiter.ts";
import { until } from "../support.ts";

test("a limiter in memory decides at once, on the clock it was given", () => {
  let nowMs = 0;
  const limiter = createLimiter({ limit: 1, windowMs: 1000, clock: () => nowMs });
  expect(limiter.consume("a")).toEqual({ allowed: true, limit: 1, remaining: 0, resetMs: 1000 });
  nowMs = 400;
  expect(limiter.consume("a")).toEqual({ allowed: false, limit: 1, remaining: 0, resetMs: 600 });
  expect(limiter.status()).toEqual({ store: "memory", up: true, clients: 1 });
  nowMs = 1000;
  expect(limiter.consume("a").allowed).toBe(true);
  limiter.close();
});

test("without a clock it goes by one that runs", async () => {
  const limiter = createLimiter({ limit: 1, windowMs: 100 });
  expect(limiter.consume("a").allowed).toBe(true);
  expect(limiter.consume("a").allowed).toBe(false);
  await until(() => limiter.consume("a").allowed);
});
