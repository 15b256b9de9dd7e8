/** The command: reads the command line, runs one command, says what went wrong in one line. */
import { runApply } from "./commands/apply.ts";
import { runCheck } from "./commands/check.ts";
import { runExport } from "./commands/export.ts";
import { runHealth } from "./commands/health.ts";
import { runImport } from "./commands/import.ts";
import { runOpenapi } from "./commands/openapi.ts";
import { runSchema } from "./commands/schema.ts";
import { runSeed } from "./commands/seed.ts";
import { runServe } from "./commands/serve.ts";
import {
  type CommandName,
  commands,
  parseCommandLine,
  type Settings,
  UsageError,
} from "./config.ts";
import { version } from "./domain/version.ts";
import { helpText } from "./help.ts";

const runners: Record<CommandName, (settings: Settings) => Promise<number>> = {
  serve: runServe,
  import: runImport,
  apply: runApply,
  export: runExport,
  check: runCheck,
  seed: runSeed,
  schema: runSchema,
  health: runHealth,
  openapi: runOpenapi,
};

/** Runs a command line; the exit code is 0 for done, 1 for failed, 2 for wrong usage. */
export async function run(argv: string[]): Promise<number> {
  try {
    const [first = ""] = argv;
    if (argv.some((word) => word === "--help" || word === "-h") || first === "help") {
      const name = argv.find((word): word is CommandName => Object.hasOwn(commands, word));
      process.stdout.write(helpText(name));
      return 0;
    }
    if (first === "--version" || first === "-v") {
      process.stdout.write(`roadbook ${version}\n`);
      return 0;
    }
    const settings = parseCommandLine(argv);
    return await runners[settings.command](settings);
  } catch (error) {
    process.stderr.write(`roadbook: ${error instanceof Error ? error.message : error}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

if (import.meta.main) run(process.argv.slice(2)).then((code) => process.exit(code));
