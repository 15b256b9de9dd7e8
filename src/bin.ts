/** The command of the npm package. An error before the command line runs is one sentence, too. */
import("./main.ts").catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
});
