/** A runtime that is too old gets one sentence. The examples run the package on an old Node.js. */
import { expect, test } from "bun:test";
import { root, run } from "../support.ts";

test.each([
  ["Node.js", { node: "20.20.2", bun: undefined }, "22.15.0"],
  ["Node.js", { node: "22.14.9", bun: undefined }, "22.15.0"],
  ["Node.js", { node: "22.15.0", bun: undefined }, undefined],
  ["Node.js", { node: "24.0.0", bun: undefined }, undefined],
  ["Bun", { node: "22.0.0", bun: "1.4.4" }, "1.4.5"],
  ["Bun", { node: "22.0.0", bun: "1.4.5" }, undefined],
  ["Bun", { node: "22.0.0", bun: "1.5.0-canary.1" }, undefined],
])("%s in %p must be at least %p", async (name, versions, needed) => {
  const program = `
    Object.defineProperty(process, "versions", { value: ${JSON.stringify(versions)} });
    process.argv.splice(1, Infinity, "roadbook", "--version");
    await import("./src/main.ts");`;
  const { code, stdout, stderr } = await run([process.execPath, "-e", program], { cwd: root });
  const version = versions.bun ?? versions.node;
  const sentence = `roadbook: Roadbook needs ${name} ${needed} or later; this is ${version}\n`;
  const expected = needed ? [1, "", sentence] : [0, expect.stringMatching(/^roadbook \d/), ""];
  expect([code, stdout, stderr]).toEqual(expected);
});
