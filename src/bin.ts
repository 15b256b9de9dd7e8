/** The command of the npm package. Prints even an error of the imports as one sentence. */
import("./main.ts").catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
});
