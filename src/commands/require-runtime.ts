/** Ends the command with one sentence if the runtime is too old, before anything else is loaded. */
import { tooOld } from "../server/runtime-version.ts";

if (tooOld !== undefined) {
  process.stderr.write(`roadbook: ${tooOld}\n`);
  process.exit(1);
}
