/**
 * Throws if the runtime is too old. The npm package's entry points import this first. No file may
 * import by name a function that an older Node.js lacks: that would fail before this runs.
 */
import { tooOld } from "./runtime-version.ts";

if (tooOld !== undefined) throw new Error(tooOld);
