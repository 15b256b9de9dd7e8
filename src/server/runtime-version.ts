/** What to say if the runtime is too old. Imports nothing, so that it also runs on that runtime. */
export const tooOld =
  process.versions.bun === undefined
    ? compare("Node.js", process.versions.node, [22, 15, 0])
    : compare("Bun", process.versions.bun, [1, 4, 5]);

function compare(name: string, version: string, oldest: readonly number[]): string | undefined {
  const numbers = version.split(".").map(Number.parseFloat);
  const at = oldest.findIndex((number, i) => numbers[i] !== number);
  if (at === -1 || Number(numbers[at]) > Number(oldest[at])) return undefined;
  return `Roadbook needs ${name} ${oldest.join(".")} or later; this is ${version}`;
}
