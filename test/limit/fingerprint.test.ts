/** Owns what the window's table relies on: same key and text, same bits; else different ones. */
import { expect, test } from "bun:test";
import { createFingerprint } from "../../src/limit/fingerprint.ts";

const KEY = new Uint32Array([1, 2]);

function hex(text: string, key = KEY): string {
  const bits = new Int32Array(2);
  createFingerprint(key)(text, bits);
  return Array.from(new Uint32Array(bits.buffer), (word) => word.toString(16)).join(":");
}

test("the same text under the same key has the same fingerprint, under another key another", () => {
  expect(hex("203.0.113.7")).toBe(hex("203.0.113.7"));
  expect(hex("203.0.113.7")).not.toBe(hex("203.0.113.7", new Uint32Array([1, 3])));
  expect(hex("203.0.113.7")).not.toBe(hex("203.0.113.7", new Uint32Array([0, 2])));
});

test("texts that differ in length, order, a high byte or a trailing zero are told apart", () => {
  const texts = [
    "",
    "a",
    "aa",
    "aaa",
    "ab",
    "ba",
    "a\0",
    "\0a",
    "\0",
    "\0\0",
    "ā",
    "á",
    "abcd",
    "cdab",
  ];
  expect(new Set(texts.map((text) => hex(text))).size).toBe(texts.length);
});

test("200,000 neighbouring addresses have as many fingerprints, and each half spreads evenly", () => {
  const fingerprint = createFingerprint();
  const bits = new Int32Array(2);
  const seen = new Set<string>();
  const buckets = [new Uint32Array(256), new Uint32Array(256)] as const;
  for (let i = 0; i < 200_000; i++) {
    fingerprint(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, bits);
    seen.add(bits.join());
    buckets.forEach((counts, half) => {
      const bucket = (bits[half] as number) & 255;
      counts[bucket] = (counts[bucket] as number) + 1;
    });
  }
  expect(seen.size).toBe(200_000);
  // 781 a bucket, σ = 28: eight σ either way.
  for (const counts of buckets) {
    expect(Math.min(...counts)).toBeGreaterThan(560);
    expect(Math.max(...counts)).toBeLessThan(1000);
  }
});
