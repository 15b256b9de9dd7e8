/**
 * Decompressed data is complete, however the input is framed and chunked. Damaged data is an error.
 */
import { describe, expect, test } from "bun:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { createRandom } from "../../src/community/random.ts";
import { decompress } from "../../src/files/decompress.ts";
import { until } from "../support.ts";

const random = createRandom(1);
const noise = Buffer.from(Array.from({ length: 300_000 }, () => random.below(256)));
const text = Buffer.from("a dataset ".repeat(50_000));
const skippable = (first: number, bytes: number) =>
  Buffer.concat([Buffer.from([first, 0x2a, 0x4d, 0x18, bytes, 0, 0, 0]), Buffer.alloc(bytes, 7)]);

async function decompressed(bytes: Uint8Array, chunkBytes: number): Promise<Buffer> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      yield bytes.subarray(at, at + chunkBytes);
    }
  }
  return Buffer.concat(await Array.fromAsync(decompress(chunks())));
}

const parts = {
  one: zstdCompressSync(text),
  two: zstdCompressSync(noise),
  empty: zstdCompressSync(Buffer.alloc(0)),
};

describe.each<[string, Uint8Array, Buffer]>([
  ["one frame", parts.one, text],
  ["a frame of incompressible data", parts.two, noise],
  [
    "a skippable frame before the data, as pzstd writes it",
    join(skippable(0x50, 4), parts.one),
    text,
  ],
  [
    "an empty skippable frame with the last magic number",
    join(skippable(0x5f, 0), parts.one),
    text,
  ],
  [
    "frames of all kinds",
    join(parts.one, skippable(0x55, 200), parts.two, parts.empty, parts.one, skippable(0x50, 1)),
    join(text, noise, text),
  ],
  ["gzip with two members", join(gzipSync(text), gzipSync(noise)), join(text, noise)],
  ["uncompressed data", text, text],
  ["empty input", Buffer.alloc(0), Buffer.alloc(0)],
])("%s", (_, bytes, expected) => {
  test.each([1, 97, 4099, 2 ** 20])("is read in chunks of %d bytes", async (chunkBytes) => {
    // Single-byte chunks are slow, and only matter for headers, so long data is skipped.
    if (chunkBytes === 1 && bytes.length > 2000) return;
    expect((await decompressed(bytes, chunkBytes)).equals(expected)).toBe(true);
  });
});

describe("damaged data is an error:", () => {
  const twice = join(parts.one, parts.one);
  test.each<[string, Uint8Array]>([
    ["half of a frame", parts.one.subarray(0, parts.one.length / 2)],
    ["a frame without its last byte", parts.one.subarray(0, -1)],
    ["a second frame without its last byte", twice.subarray(0, -1)],
    ["half of a magic number", twice.subarray(0, parts.one.length + 2)],
    ["half of a skippable frame", skippable(0x50, 9).subarray(0, -1)],
    ["text after a frame", join(parts.one, Buffer.from("text"))],
    ["a changed byte", join(parts.one.subarray(0, 9), Buffer.from([255]), parts.one.subarray(10))],
    ["half of a gzip member", gzipSync(text).subarray(0, 100)],
    ["a second gzip member without its end", join(gzipSync(text), gzipSync(text).subarray(0, -1))],
  ])("%s", async (_, bytes) => {
    for (const chunkBytes of [97, 2 ** 20]) {
      await expect(decompressed(bytes, chunkBytes)).rejects.toThrow(
        /damaged or ends early: [A-Za-z]/,
      );
    }
  });
});

test("an error from the input is rethrown unchanged", async () => {
  const failure = new Error("the connection was cut");
  async function* input() {
    yield parts.two.subarray(0, 1000);
    throw failure;
  }
  const bytes = Array.fromAsync(decompress(input()));
  await expect(bytes).rejects.toBe(failure);
});

test("the input is closed when the reader stops early", async () => {
  for (const bytes of [parts.two, gzipSync(noise), noise]) {
    let isClosed = false;
    async function* input() {
      try {
        for (let at = 0; ; at += 1000) {
          yield bytes.subarray(at, at + 1000);
          await Bun.sleep(0);
        }
      } finally {
        isClosed = true;
      }
    }
    for await (const _ of decompress(input())) break;
    await until(() => isClosed);
  }
});

function join(...all: Uint8Array[]): Buffer {
  return Buffer.concat(all);
}
