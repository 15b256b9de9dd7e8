/** The command of the npm package. Even an error while modules load is printed as one sentence. */
import("./main.ts").catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
});
