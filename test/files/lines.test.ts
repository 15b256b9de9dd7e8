/** The input is split into the same lines, whatever chunks it arrives in. */
import { expect, test } from "bun:test";
import { readLines, type TextLine } from "../../src/files/input.ts";
import { chunksOf } from "../datasets.ts";

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
