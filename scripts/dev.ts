/**
 * `bun run dev` serves the demo, with the flags of `serve`. Bun's `--watch` restarts it when a file
 * that it imports changes.
 */

// Nothing else imports these two, because src/web/assets.ts bundles them when they are needed.
import "../src/web/browser.ts" with { type: "text" };
// @ts-expect-error: A style sheet has no types.
import "../src/web/style.css" with { type: "text" };
import { runCommandLine } from "../src/commands/command-line.ts";

// Errors are not caught, as in src/main.ts: Bun shows the line and waits until the file is mended.
await runCommandLine(["serve", ...process.argv.slice(2)]);
process.exit();
