/** Runs the command line. Exits with 0 on success, 1 on failure and 2 on incorrect usage. */
import "./commands/require-runtime.ts";
import { exitCodeOf, runCommandLine } from "./commands/command-line.ts";

runCommandLine(process.argv.slice(2)).then(
  () => process.exit(),
  (error: unknown) => {
    const code = exitCodeOf(error);
    const message = error instanceof Error ? error.message : String(error);
    // Keeps a usage error on one line, even if it repeats input that contains control characters.
    process.stderr.write(`roadbook: ${code === 2 ? message.replace(/\p{Cc}+/gu, " ") : message}\n`);
    process.exit(code);
  },
);
