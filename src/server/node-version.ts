/**
 * Stops with a one-sentence error if the Node.js version is too old. Every entry point of the npm
 * package imports this file first. No file may import by name a function that an older Node.js
 * lacks, because that import would fail before this file runs.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (!process.versions.bun && (major < 22 || (major === 22 && minor < 15))) {
  throw new Error(`Roadbook needs Node.js 22.15 or later; this is ${process.version}`);
}
