/**
 * Throws if the runtime is too old. Imports nothing, so that it also runs on that runtime. The npm package's
 * entry points import this first. No file may import by name a function that an older Node.js lacks: that
 * would fail before this runs.
 */
if (process.versions.bun === undefined) {
  requireVersion("Node.js", process.versions.node, [22, 15, 0]);
} else requireVersion("Bun", process.versions.bun, [1, 4, 5]);

function requireVersion(name: string, version: string, oldest: readonly number[]): void {
  const numbers = version.split(".").map(Number.parseFloat);
  const at = oldest.findIndex((number, i) => numbers[i] !== number);
  if (at === -1 || Number(numbers[at]) > Number(oldest[at])) return;
  throw new Error(`Roadbook needs ${name} ${oldest.join(".")} or later; this is ${version}`);
}

export {};
