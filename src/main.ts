/** The entry: runs the command line; exits with 0 for done, 1 for failed, 2 for wrong usage. */
import "./node-version.ts";
import { runCommandLine } from "./commands/command-line.ts";
import { UsageError } from "./commands/values.ts";

runCommandLine(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const isUsage = error instanceof UsageError;
    // Wrong usage is one line, whatever was typed.
    process.stderr.write(`roadbook: ${isUsage ? message.replace(/\p{Cc}+/gu, " ") : message}\n`);
    process.exit(isUsage ? 2 : 1);
  },
);
