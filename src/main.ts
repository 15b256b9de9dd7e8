/** Runs the command line. Exits with 0 on success, 1 on failure and 2 on incorrect usage. */
import "./server/node-version.ts";
import { runCommandLine } from "./commands/command-line.ts";
import { UsageError } from "./settings/kinds.ts";

runCommandLine(process.argv.slice(2)).then(
  () => process.exit(),
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const isUsage = error instanceof UsageError;
    // Keeps a usage error on one line, even if it repeats input that contains control characters.
    process.stderr.write(`roadbook: ${isUsage ? message.replace(/\p{Cc}+/gu, " ") : message}\n`);
    process.exit(isUsage ? 2 : 1);
  },
);
