/** A download never uses more disk space than its header declares, whatever the source sends. */
import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { importDataset } from "../../../src/snapshot/import/import.ts";
import { checkSnapshot } from "../../../src/snapshot/read/check.ts";
import { replaceCompressed } from "../../../src/snapshot/remote/object.ts";
import { saveSnapshot } from "../../../src/snapshot/remote/save.ts";
import { bytesOf, makeSnapshot, user } from "../../datasets.ts";
import { temporaryFolder, until } from "../../support.ts";

let snapshot: Buffer;
beforeAll(async () => {
  snapshot = readFileSync(await makeSnapshot());
});

/** Sends `first`, then sends `next` over and over. */
function createEndless(first: Uint8Array, next: Uint8Array) {
  const state = { isClosed: false, sent: 0 };
  async function* send() {
    try {
      for (let chunk = first; ; chunk = next) {
        state.sent += chunk.length;
        yield chunk;
        await Bun.sleep(0);
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { state, input: send() };
}

/** Returns a copy of the snapshot with one number in the header changed. */
function withHeader(at: number, value: number): Buffer {
  const copy = Buffer.from(snapshot);
  copy.writeUInt32BE(value, at);
  return copy;
}

const megabytes = Buffer.alloc(2 ** 24);
const bombs = {
  plain: (bytes: Uint8Array) => createEndless(bytes, megabytes),
  zstd: (bytes: Uint8Array) => createEndless(zstdCompressSync(bytes), zstdCompressSync(megabytes)),
  gzip: (bytes: Uint8Array) => createEndless(gzipSync(bytes), gzipSync(megabytes)),
};

describe.each(Object.entries(bombs))("an endless %s body", (_, createBomb) => {
  test("is cut off one byte after the end of the snapshot and then rejected", async () => {
    const { input, state } = createBomb(snapshot);
    const path = join(temporaryFolder(), "snapshot");
    await saveSnapshot(input, path);
    expect(statSync(path).size).toBe(snapshot.length + 1);
    await expect(checkSnapshot(path)).rejects.toThrow(/it has \d+ bytes instead of \d+/);
    await until(() => state.isClosed);
  });

  test.each<[string, () => Uint8Array, RegExp]>([
    ["is not a snapshot", () => Buffer.from("<html>".repeat(50_000)), /is not a Roadbook snapshot/],
    ["has another schema", () => withHeader(60, 99), /has schema 99/],
    ["is a different SQLite file", () => withHeader(68, 7), /is a SQLite file, but not/],
  ])("is not read any further if it %s", async (_, make, reason) => {
    const { input, state } = createBomb(make());
    const path = join(temporaryFolder(), "snapshot");
    await saveSnapshot(input, path);
    expect(statSync(path).size).toBe(100);
    await expect(checkSnapshot(path)).rejects.toThrow(reason);
    await until(() => state.isClosed);
    expect(state.sent).toBeLessThan(2 ** 26);
  });

  test("is not saved if its header declares more bytes than the disk has free", async () => {
    const { input, state } = createBomb(withHeader(28, 0xffffffff));
    const path = join(temporaryFolder(), "snapshot");
    await expect(saveSnapshot(input, path)).rejects.toThrow(
      /^needs 17592\.2 GB, more than is free on the disk it is saved to$/,
    );
    expect(statSync(path).size).toBe(0);
    await until(() => state.isClosed);
  });
});

test.each<[string, () => Uint8Array, () => Uint8Array]>([
  ["zstd", () => zstdCompressSync(snapshot).subarray(0, 0), skippable],
  ["zstd after the snapshot", () => zstdCompressSync(snapshot), skippable],
  ["gzip", () => gzipSync(""), () => Buffer.concat(Array(20_000).fill(gzipSync("")))],
])("endless compressed data that unpacks to nothing is rejected: %s", async (_, first, next) => {
  const { input, state } = createEndless(first(), next());
  const path = join(temporaryFolder(), "snapshot");
  await expect(saveSnapshot(input, path)).rejects.toThrow(
    "sends far more data than the snapshot needs",
  );
  expect(statSync(path).size).toBeLessThanOrEqual(snapshot.length);
  expect(state.sent).toBeLessThan(2 ** 25);
});

function skippable(): Buffer {
  const frame = Buffer.alloc(2 ** 20);
  frame.writeUInt32LE(0x184d2a50, 0);
  frame.writeUInt32LE(frame.length - 8, 4);
  return frame;
}

test.each([33, 99, 100, 101, 5000])(
  "a snapshot that arrives in chunks of %d bytes is saved unchanged",
  async (bytes) => {
    async function* chunks() {
      for (let at = 0; at < snapshot.length; at += bytes) yield snapshot.subarray(at, at + bytes);
    }
    const path = join(temporaryFolder(), "snapshot");
    expect(await saveSnapshot(chunks(), path)).toBe(snapshot.length);
    expect(readFileSync(path).equals(snapshot)).toBe(true);
  },
);

test("an import refuses to remove most users from a snapshot of any schema version", async () => {
  const target = join(temporaryFolder(), "x.snapshot.zst");
  const many = Array.from({ length: 10 }, (_, at) => user(at + 1, `Driver ${at}`));
  const old = readFileSync(await makeSnapshot(many));
  old.writeUInt32BE(1, 60);
  await Bun.write(target, zstdCompressSync(old));
  const few = replaceCompressed(target, (path) => importDataset(bytesOf(many.slice(6)), path));
  await expect(few).rejects.toThrow(`${target} would lose 6 of its 10 users`);
  await replaceCompressed(target, (path) => importDataset(bytesOf(many), path));
  expect(zstdCompressSync(old).equals(readFileSync(target))).toBe(false);
});
