/** Runs the command line. Exits with 0 on success, 1 on failure and 2 on incorrect usage. */
import { runCommandLine } from "./commands/command-line.ts";
import { describeError } from "./files/errors.ts";
import { exitCodeOf } from "./settings/setting.ts";

async function main(): Promise<number> {
  try {
    // Before a command is loaded, which an older runtime could not load.
    await import("./server/require-runtime.ts");
    await runCommandLine(process.argv.slice(2));
    return Number(process.exitCode ?? 0);
  } catch (error) {
    const code = exitCodeOf(error);
    const message = describeError(error);
    // Keeps a usage error on one line, even if it repeats input that contains control characters.
    console.error(`roadbook: ${code === 2 ? message.replace(/\p{Cc}+/gu, " ") : message}`);
    return code;
  }
}

main().then(process.exit);
