/** The command of the npm package. Even an error during import is printed as one sentence. */
import("./main.ts").catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
});
