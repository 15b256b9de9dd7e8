/** What `bun run bench` does with words that it does not know. */
import { expect, test } from "bun:test";
import { root, run } from "../support.ts";

test.each([[["nothing"]], [["http", "--rounds", "1"]], [["--size", "1G"]]])(
  "bench %p is wrong usage",
  async (words) => {
    const command = [process.execPath, "scripts/bench/main.ts", ...words];
    const { code, stdout, stderr } = await run(command, { cwd: root });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("usage: bun run bench");
  },
);
