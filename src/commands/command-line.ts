/**
 * Declares every command with its arguments, flags, defaults and help. The flags of `serve` are in
 * serve-flags.ts. This is the only file that reads the environment. It loads a command's code only
 * when that command runs, so that `--version`, `--help` and `serve` start fast.
 */
import {
  type CommandUnknownOpts as AnyCommand,
  Command,
  CommanderError,
} from "@commander-js/extra-typings";
import { version } from "../domain/version.ts";
import {
  formatDuration,
  parseBaseUrl,
  parseInteger,
  parsePort,
  parseTime,
  UsageError,
} from "../options.ts";
import {
  completeDeclaration,
  type Environment,
  listUnknownVariables,
  usageOf,
  variableOf,
} from "./environment.ts";
import { readLocation } from "./location.ts";
import { describeCounts, refuseSameFile, writeStdout } from "./output.ts";
import { declareServe } from "./serve-flags.ts";
import { parseFile, requireBun } from "./values.ts";

const parseMaxErrors = parseInteger(1, 1_000_000);

/** Runs a command line. Rejects with a {@link UsageError} or with the command's own error. */
export async function runCommandLine(argv: string[]): Promise<void> {
  const program = createProgram(process.env);
  const args = completeArguments(program, argv);
  const command = program.commands.find((command) => command.name() === args[0]);
  try {
    await program.parseAsync(dropStrayValues(command, args), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander throws an error even after --help and --version.
    if (error.exitCode !== 0) throw usageErrorOf(error, command ?? program);
  }
}

export function createProgram(env: Environment): AnyCommand {
  const program: AnyCommand = new Command("roadbook");
  program
    .usage("[COMMAND] [flags]")
    .description("Read-only API server for driver profiles, achievements and name search")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: writeStdout,
      outputError: () => {},
      getOutHelpWidth: () => Math.min(process.stdout.columns || 80, 80),
    })
    .configureHelp({
      styleTitle: (title) => (title === "Options:" ? "Flags:" : title),
      commandDescription: (command) =>
        `${command.description().replace(/^./, (letter) => letter.toUpperCase())}.`,
      optionTerm: (option) => option.flags.replace(/[<>]/g, ""),
      optionDescription: ({ description, defaultValue, flags }) => {
        if (!/^(?:number|string)$/.test(typeof defaultValue)) return description;
        const isTime = flags.endsWith("<TIME>");
        return `${description} (default: ${isTime ? formatDuration(defaultValue) : defaultValue})`;
      },
      subcommandTerm: (command) =>
        `${command.name()} ${command.usage().replace(/ ?\[flags\]$/, "")}`.trimEnd(),
    })
    .optionsGroup("Help:")
    .helpOption("-h, --help", "print this help")
    .version(`roadbook ${version}`, "-V, --version", "print the version")
    .helpCommand("help [COMMAND]", "print help for a command")
    .addHelpText(
      "after",
      `
Without a command, roadbook serves the bundled data on http://127.0.0.1:3000.
For the flags of a command and their defaults, run roadbook COMMAND --help.
Exit codes: 0 success, 1 failure, 2 usage error.`,
    )
    .addHelpText("afterAll", ({ command }) => environmentHelp(command));

  declareServe(program).action(async (flags) => {
    if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined)) {
      throw new UsageError("--tls-cert and --tls-key must be given together");
    }
    if (flags.kiosk && !flags.page) {
      throw new UsageError("--kiosk and --no-page are mutually exclusive");
    }
    if (flags.rateLimitStore !== undefined) requireBun("--rate-limit-store");
    if (flags.reusePort && process.platform !== "linux") {
      throw new UsageError("--reuse-port works only on Linux");
    }
    const { runServe } = await import("./serve.ts");
    await runServe({
      ...flags,
      location: readLocation(flags.snapshot, env),
      unknownVariables: listUnknownVariables(program, env),
    });
  });

  program
    .command("import")
    .usage("SOURCE --to FILE [flags]")
    .description("build a snapshot from NDJSON (plain or gzip), CSV files or a database")
    .argument("[SOURCE]", "NDJSON file, - for standard input, folder of CSV files, or database URL")
    .requiredOption("--to <FILE>", "the snapshot to write", parseFile)
    .option("--queries <FOLDER>", "read the database SOURCE with the SELECTs in this folder")
    .option("--avatar-base <URL>", "resolve avatars that are not http(s) URLs", parseBaseUrl)
    .option("--dry-run", "check the dataset without writing anything", false)
    .option("--expect-end", 'fail unless the last line is {"type":"end","lines":N}', false)
    .option(
      "--allow-shrink",
      "allow the removal of more than half of the users or companies",
      false,
    )
    .option("--force", "overwrite the target even if it is not a snapshot", false)
    .option("--skip-invalid", "skip invalid lines and fields, and report them", false)
    .option("--max-errors <N>", "how many errors of each kind to report", parseMaxErrors, 5)
    .option("--wait <TIME>", "how long to wait while FILE is being written", parseTime, 60_000)
    .addHelpText(
      "after",
      `
SOURCE can be postgres://, mysql:// or mariadb:// with user, password, host and
name, or sqlite:FILE. ROADBOOK_DATABASE can have this URL instead of SOURCE, so
that the password is not visible in ps.`,
    )
    .action(async (source = env.ROADBOOK_DATABASE, { wait: waitMs, ...flags }) => {
      await (await import("./import-apply.ts")).runImport(source, { ...flags, waitMs });
    });

  program
    .command("apply")
    .usage("CHANGES --to FILE [flags]")
    .description("apply a change file to a snapshot")
    .argument("<CHANGES>", "the change file; - for standard input")
    .requiredOption("--to <FILE>", "the snapshot to change", parseFile)
    .option("--expect-end", 'fail unless the last line is {"type":"end","lines":N}', false)
    .option(
      "--allow-shrink",
      "allow the removal of more than half of the users or companies",
      false,
    )
    .option("--max-errors <N>", "how many errors of each kind to report", parseMaxErrors, 5)
    .option("--wait <TIME>", "how long to wait while FILE is being written", parseTime, 60_000)
    .addHelpText("after", "\nA running server switches to the new snapshot within a second.")
    .action(async (changes, { wait: waitMs, ...flags }) => {
      await (await import("./import-apply.ts")).runApply(changes, { ...flags, waitMs });
    });

  program
    .command("export")
    .usage("FILE [--to OUT] [flags]")
    .description("export the data of a snapshot as a dataset")
    .argument("<FILE>", "the snapshot")
    .option("--to <OUT>", "the file to write (default: standard output)", parseFile)
    .option("--force", "overwrite the target even if it is not a dataset", false)
    .action(async (path, flags) => {
      const { exportDataset } = await import("../snapshot/read/export.ts");
      const { writeLines } = await import("./write-lines.ts");
      if (flags.to !== undefined) refuseSameFile(path, flags.to);
      await writeLines(await exportDataset(path), flags);
    });

  program
    .command("check")
    .usage("FILE")
    .description("verify a snapshot and report any damage")
    .argument("<FILE>", "the snapshot")
    .action(async (path) => {
      const { checkSnapshot } = await import("../snapshot/read/check.ts");
      const { built_at, counts } = await checkSnapshot(path);
      writeStdout(`${path} is intact: built ${built_at}, ${describeCounts(counts)}\n`);
    });

  program
    .command("seed")
    .usage("--users N [flags]")
    .description("generate a made-up dataset of any size")
    .requiredOption("--users <N>", "how many users to generate", parseInteger(0, 100_000_000))
    .option(
      "--companies <M>",
      "how many companies to generate (default: one per 25 users)",
      parseInteger(0, 50_000_000),
    )
    .option(
      "--seed <S>",
      "random seed; the same seed always generates the same dataset",
      parseInteger(0, 0xffff_ffff),
      1,
    )
    .option("--to <OUT>", "the file to write (default: standard output)", parseFile)
    .option("--force", "overwrite the target even if it is not a dataset", false)
    .action(async (flags) => (await import("./seed.ts")).runSeed(flags));

  program
    .command("schema")
    .usage("[flags]")
    .description("print the JSON Schema for dataset lines")
    .action(async () => {
      const { datasetSchema } = await import("../domain/dataset.ts");
      writeStdout(`${JSON.stringify(datasetSchema(), null, 2)}\n`);
    });

  program
    .command("openapi")
    .usage("[flags]")
    .description("print the OpenAPI document for the API")
    .option(
      "--public-url <URL>",
      "the server URL in the document",
      parseBaseUrl,
      "http://127.0.0.1:3000",
    )
    .action(async ({ publicUrl }) => {
      const { createRoadbook } = await import("../roadbook.ts");
      await using roadbook = await createRoadbook({ demo: true, publicUrl });
      const response = await roadbook.fetch(new Request("http://localhost/docs/json"));
      writeStdout(`${JSON.stringify(await response.json(), null, 2)}\n`);
    });

  program
    .command("health")
    .usage("[URL] [flags]")
    .description("check whether a running server is healthy")
    .argument("[URL]", "the server's base URL, such as https://api.example.org", parseBaseUrl)
    .option("--host <ADDRESS>", "the server's address, if no URL is given", "127.0.0.1")
    .option("--port <N>", "the server's port, if no URL is given", parsePort, 3000)
    .option("--tls-cert <FILE>", "connect over https, if no URL is given (the file is not read)")
    .addHelpText(
      "after",
      `
These flags use the same environment variables as serve, so both commands can
share one environment. The exit code is 1 if the server does not
respond or is unhealthy.`,
    )
    .action(async (url, flags) => (await import("./health.ts")).runHealth(url, flags));

  for (const command of program.commands) completeDeclaration(command, env);
  return program;
}

/** Returns help text about a command's environment variables; empty if the command has no flags. */
function environmentHelp({ parent, options }: AnyCommand): string {
  const [option] = options;
  if (!parent || !option) return "";
  const hasBoolean = options.some((other) => other.isBoolean());
  const booleanHelp = hasBoolean
    ? "\nFor a flag that takes no value, set the variable to 1 or 0."
    : "";
  return `
Every flag can also be set by an environment variable; the flag wins.
For example, ${variableOf(option)} sets --${option.name()}.${booleanHelp}`;
}

/**
 * Inserts `serve` if no command is named. Drops the arguments after an unknown command, because
 * --help there would keep Commander from reporting the unknown command.
 */
function completeArguments(program: AnyCommand, argv: string[]): string[] {
  const [first = "serve", ...rest] = argv;
  const [second = first] = rest;
  const has = (name: string) => program.commands.some((command) => command.name() === name);
  if (first === "help") {
    if (second.startsWith("-") || second === first) return ["--help"];
    return has(second) ? [second, "--help"] : [second];
  }
  if (!first.startsWith("-")) return has(first) ? [first, ...rest] : [first];
  return /^(?:-h|--help|-V|--version)$/.test(first) ? argv : ["serve", ...argv];
}

/**
 * Reduces `--flag=value` to `--flag` if the flag is unknown, because the value may be a secret and
 * would keep Commander from suggesting the right flag.
 */
function dropStrayValues(command: AnyCommand | undefined, args: string[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, at) => {
    const [, name] = /^(--[^=]+)=/.exec(arg) ?? [];
    if (name === undefined || (end >= 0 && at > end)) return arg;
    const option = command?.options.find(({ long }) => long === name);
    if (option?.isBoolean()) throw new UsageError(`${name} takes no value`);
    return option ? arg : name;
  });
}

/** Rewords a Commander error in one line. Never repeats a flag's value, which may be a secret. */
function usageErrorOf({ code, message }: CommanderError, command: AnyCommand): UsageError {
  const [, subject = ""] = /'(-[^\s=']*|.*(?='))/s.exec(message) ?? [];
  const [, hint] = /\(Did you mean (?:one of )?(.*)\?\)$/.exec(message) ?? [];
  const name = command.parent ? `roadbook ${command.name()}` : "roadbook";
  const help = hint ? `did you mean ${hint.replaceAll(", ", " or ")}?` : `see ${name} --help`;
  const messages: Record<string, string> = {
    "commander.unknownCommand": `unknown command "${subject}"; ${help}`,
    "commander.unknownOption": `unknown flag ${subject}; ${help}`,
    "commander.optionMissingArgument": `${subject} needs a value; ${help}`,
    "commander.missingArgument": `${subject} is missing; ${usageOf(command)}`,
    "commander.excessArguments": `too many arguments; ${usageOf(command)}`,
  };
  return new UsageError(messages[code] ?? `${message}; ${help}`);
}
