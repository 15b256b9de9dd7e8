/**
 * Runs the command line. Exits with 0 on success, 1 on failure and 2 on incorrect usage. The
 * command line is imported late, so that even an error while it loads is printed as one sentence.
 */
import { UsageError } from "./settings/kinds.ts";

import("./commands/command-line.ts")
  .then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)))
  .then(
    () => process.exit(),
    (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      const isUsage = error instanceof UsageError;
      // Keeps a usage error on one line, even if it repeats input that contains control characters.
      process.stderr.write(`roadbook: ${isUsage ? message.replace(/\p{Cc}+/gu, " ") : message}\n`);
      process.exit(isUsage ? 2 : 1);
    },
  );
