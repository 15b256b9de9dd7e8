/** Input is decompressed and split into the same lines, whatever chunks it arrives in. */
import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { Random } from "../../src/domain/random.ts";
import { decompress } from "../../src/files/input.ts";
import { readLines, type TextLine } from "../../src/files/lines.ts";
import { chunksOf } from "../datasets.ts";
import { until } from "../support.ts";

const random = new Random(1);
const noise = Buffer.from(Array.from({ length: 300_000 }, () => random.below(256)));
const text = Buffer.from("a dataset ".repeat(50_000));
const member = gzipSync(text);

async function decompressed(bytes: Uint8Array, chunkBytes: number): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(decompress(chunksOf(bytes, chunkBytes))));
}

test.each<[string, Uint8Array, Buffer]>([
  ["one member", member, text],
  ["two members", Buffer.concat([member, gzipSync(noise)]), Buffer.concat([text, noise])],
  ["uncompressed data", text.subarray(0, 2000), text.subarray(0, 2000)],
  ["the first byte of gzip data", Buffer.from([0x1f]), Buffer.from([0x1f])],
  ["empty input", Buffer.alloc(0), Buffer.alloc(0)],
])("%s is read in chunks of any size", async (_, bytes, expected) => {
  for (const chunkBytes of [1, 97, 4099, 2 ** 20]) {
    // Single-byte chunks are slow, and only matter for headers, so long data is skipped.
    if (chunkBytes === 1 && bytes.length > 2000) continue;
    expect((await decompressed(bytes, chunkBytes)).equals(expected)).toBe(true);
  }
});

const damaged = /is damaged or ends early: [A-Za-z]/;
const followed = /is followed by other data/;
test.each<[string, Uint8Array, RegExp]>([
  ["half of a member", member.subarray(0, 100), damaged],
  ["a second member without its end", Buffer.concat([member, member.subarray(0, -1)]), damaged],
  ["a changed byte", Buffer.concat([member.subarray(0, 99), Buffer.alloc(9, 7)]), damaged],
  ["text after a member", Buffer.concat([member, Buffer.from("text")]), damaged],
  ["a zero after a member", Buffer.concat([member, Buffer.alloc(1)]), followed],
])("%s is an error", async (_, bytes, expected) => {
  for (const chunkBytes of [97, 2 ** 20]) {
    await expect(decompressed(bytes, chunkBytes)).rejects.toThrow(expected);
  }
});

test("an error from the input is rethrown unchanged", async () => {
  const failure = new Error("the connection was cut");
  async function* input() {
    yield gzipSync(noise).subarray(0, 1000);
    throw failure;
  }
  const bytes = Array.fromAsync(decompress(input()));
  await expect(bytes).rejects.toBe(failure);
});

/** Reads up to the first chunk of endless input, which begins with `bytes`. */
async function readFirst(bytes: Uint8Array, onClose: () => void): Promise<void> {
  async function* input() {
    try {
      for (let at = 0; ; at += 1000) {
        yield bytes.subarray(at, at + 1000);
        await Bun.sleep(0);
      }
    } finally {
      onClose();
    }
  }
  for await (const _ of decompress(input())) break;
}

test("the input is closed when the reader stops early", async () => {
  for (const bytes of [gzipSync(noise), noise]) {
    let isClosed = false;
    await readFirst(bytes, () => (isClosed = true));
    await until(() => isClosed);
  }
});

test("the input is closed when it is refused", async () => {
  const csv = Buffer.concat([Buffer.from("id,name\n"), noise]);
  for (const bytes of [gzipSync(csv), csv]) {
    let isClosed = false;
    const reading = readFirst(bytes, () => (isClosed = true));
    await expect(reading).rejects.toThrow("the input is a CSV file");
    await until(() => isClosed);
  }
});

async function linesOf(bytes: Uint8Array, chunkBytes: number): Promise<TextLine[]> {
  const lines: TextLine[] = [];
  for await (const batch of readLines(chunksOf(bytes, chunkBytes))) lines.push(...batch);
  return lines;
}

test.each([1, 2, 3, 7, 64])(
  "chunks of %d bytes give the same lines as a single chunk",
  async (chunkBytes) => {
    const bytes = Buffer.from("\ufeffone\n\n  \ntwö\r\n?\nthree");
    bytes[bytes.indexOf("?")] = 0xff;
    expect(await linesOf(bytes, chunkBytes)).toEqual(await linesOf(bytes, bytes.length));
  },
);

test("a long line in single bytes takes linear time and is cut off after 1 MiB", async () => {
  const max = 2 ** 20;
  const bytes = Buffer.alloc(2 * max + 2, "a");
  bytes[max] = 10;
  // Joining the parts after every chunk would copy 500 GB, and so time out.
  const [first, second] = await linesOf(bytes, 1);
  expect(first).toEqual({ number: 1, text: "a".repeat(max) });
  expect(second).toEqual({ number: 2, text: "", problem: "is longer than 1 MiB" });
});
