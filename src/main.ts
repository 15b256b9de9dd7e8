/**
 * The entry point: runs the command line. Exits with 0 on success, 1 on failure, 2 on wrong usage.
 */
import "./node-version.ts";
import { runCommandLine } from "./commands/command-line.ts";
import { UsageError } from "./commands/values.ts";

runCommandLine(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const isUsage = error instanceof UsageError;
    // A usage error is always one line, even if it repeats input with control characters.
    process.stderr.write(`roadbook: ${isUsage ? message.replace(/\p{Cc}+/gu, " ") : message}\n`);
    process.exit(isUsage ? 2 : 1);
  },
);
