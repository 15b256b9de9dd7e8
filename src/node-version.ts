/**
 * Stops an older Node.js with one sentence. The entries of the npm package import this file first. No
 * file may import by name what an older Node.js lacks: that fails before anything runs.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (!process.versions.bun && (major < 22 || (major === 22 && minor < 15))) {
  throw new Error(`Roadbook needs Node.js 22.15 or later; this is ${process.version}`);
}
