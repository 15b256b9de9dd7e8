/** The command of the npm package. An error during import is printed as one sentence too. */
import("./main.ts").catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
});
