/** Writing to a disk that takes only a part of the bytes at a time. */
import { expect, test } from "bun:test";
import { writeAll } from "../../src/files/bytes.ts";

test("a write that takes only a part is followed by others until all bytes are written", async () => {
  const file = Buffer.alloc(12, ".");
  let room = 100;
  const write = async (bytes: Uint8Array, from = 0, length = 0, at = 0) => {
    if (room === 0) throw new Error("no space left on device");
    const bytesWritten = Math.min(3, room, length);
    file.set(bytes.subarray(from, from + bytesWritten), at);
    room -= bytesWritten;
    return { bytesWritten, buffer: bytes };
  };
  const handle = { write } as Parameters<typeof writeAll>[0];

  await writeAll(handle, Buffer.from("roadbook"), 2);
  expect(file.toString()).toBe("..roadbook..");

  room = 4;
  await expect(writeAll(handle, Buffer.from("snapshot"), 0)).rejects.toThrow("no space left");
});
