/** The shared store as the command is told of it. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openExecutable, roadbook, temporaryFolder } from "../support.ts";
import { hasRedisServer, openRedisServer } from "./redis-server.ts";

describe("--rate-limit-store-file", () => {
  const write = (text: string) => {
    const path = join(temporaryFolder(), "store-url");
    writeFileSync(path, text);
    return path;
  };

  test.skipIf(!hasRedisServer())(
    "has the URL of the store, which no list of processes shows",
    async () => {
      const store = await openRedisServer("correct-horse");
      let log = "";
      const target = await openExecutable(
        ["--rate-limit-store-file", write(`${store.url}\n`)],
        (text) => {
          log += text;
        },
      );
      expect(await (await target.fetch("/health")).json()).toMatchObject({
        search_limit: { store: "redis", up: true },
      });
      await target.close();
      expect(log).not.toContain("horse");
      await store.close();
    },
  );

  test.each([
    [["nowhere/url"], 1, "nowhere/url cannot be read: no such file or directory\n"],
    [[write("")], 1, " holds no redis://, rediss:// or valkey:// URL\n"],
    [[write("redis://:12/secret@h")], 1, " holds no redis://, rediss:// or valkey:// URL\n"],
    [["x", "--rate-limit-store", "redis://h"], 2, "exclude each other\n"],
  ])("%j ends with one line that repeats none of it", async (words, code, line) => {
    const outcome = await roadbook(["--port", "0", "--rate-limit-store-file", ...words]);
    expect([outcome.code, outcome.stdout]).toEqual([code, ""]);
    expect(outcome.stderr).toContain(line);
    expect(outcome.stderr).not.toContain("secret");
    expect(outcome.stderr.trimEnd()).not.toContain("\n");
  });
});
