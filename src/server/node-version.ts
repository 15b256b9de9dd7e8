/**
 * Stops with one sentence if Node.js is too old. The npm package's entry points import this first. No
 * file may import by name a function that an older Node.js lacks: that would fail before this runs.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (!process.versions.bun && (major < 22 || (major === 22 && minor < 15))) {
  throw new Error(`Roadbook needs Node.js 22.15 or later; this is ${process.version}`);
}
