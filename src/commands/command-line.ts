/**
 * The command line: every command with its arguments, flags, environment variables, defaults and
 * help is declared here or, the flags of `serve`, beside this file. The only reader of the
 * environment. A command's code is loaded when it runs, so that `--version`, the help and the
 * ready line wait for nothing that they do not use.
 */
import {
  type CommandUnknownOpts as AnyCommand,
  Command,
  CommanderError,
} from "@commander-js/extra-typings";
import { version } from "../domain/version.ts";
import { formatDuration, parseBaseUrl, parseInteger, parsePort } from "../options.ts";
import {
  completeDeclaration,
  type Environment,
  listUnknownVariables,
  usageOf,
  variableOf,
} from "./environment.ts";
import { findStoreUrl, readLocation } from "./location.ts";
import { describeCounts, refuseSameFile, writeStdout } from "./output.ts";
import { declareServe } from "./serve-flags.ts";
import { UsageError } from "./values.ts";

const parseMaxErrors = parseInteger(1, 1_000_000);

/** Runs a command line to its end. Rejects with a {@link UsageError} or what the command throws. */
export async function runCommandLine(argv: string[]): Promise<void> {
  const program = createProgram(process.env);
  const args = completeArguments(program, argv);
  const named = program.commands.find((command) => command.name() === args[0]);
  try {
    await program.parseAsync(cutStrayValues(named, args), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // The help and the version arrive here as well, and are not errors.
    if (error.exitCode !== 0) throw usageErrorOf(error, named ?? program);
  }
}

/** The tree of commands. */
export function createProgram(env: Environment): AnyCommand {
  const program: AnyCommand = new Command("roadbook");
  program
    .usage("[COMMAND] [flags]")
    .description("Serves driver profiles, achievements and name search from one file, read-only")
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
    .helpCommand("help [COMMAND]", "print the help of a command")
    .addHelpText(
      "after",
      `
Without a command, roadbook serves the bundled data on http://127.0.0.1:3000.
roadbook COMMAND --help prints the flags of a command and their defaults.
Exit codes: 0 done, 1 failed, 2 wrong usage.`,
    )
    .addHelpText("afterAll", ({ command }) => environmentHelp(command));

  declareServe(program).action(async (flags, command) => {
    if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined)) {
      throw new UsageError("--tls-cert and --tls-key go together");
    }
    if (flags.kiosk && !flags.page) {
      throw new UsageError("--kiosk and --no-page are mutually exclusive");
    }
    if (flags.reusePort && process.platform !== "linux") {
      throw new UsageError("--reuse-port needs Linux");
    }
    const { runServe } = await import("./serve.ts");
    await runServe({
      ...flags,
      location: readLocation("--snapshot", flags.snapshot, env),
      storeUrl: await findStoreUrl(command),
      unknownVariables: listUnknownVariables(program, env),
    });
  });

  program
    .command("import")
    .usage("DATASET --to FILE [flags]")
    .description("make a snapshot of a dataset (NDJSON, gzip or zstd)")
    .argument("<DATASET>", "the file of the dataset; - for standard input")
    .requiredOption("--to <FILE>", "the snapshot to write; FILE.zst, s3://bucket/key")
    .option("--dry-run", "check the dataset and write nothing", false)
    .option("--expect-end", 'fail unless the last line is {"type":"end","lines":N}', false)
    .option("--allow-shrink", "allow a loss of over half of the users or companies", false)
    .option("--force", "overwrite a file that is not a snapshot", false)
    .option("--unconditional", "write to s3:// without If-Match, as the only writer", false)
    .option("--skip-invalid", "leave out invalid lines or fields and report them", false)
    .option("--max-errors <N>", "how many errors of each kind to report", parseMaxErrors, 5)
    .action(async (dataset, flags) => {
      const location = readLocation("--to", flags.to, env);
      await (await import("./import-apply.ts")).runImport(dataset, { ...flags, location });
    });

  program
    .command("apply")
    .usage("CHANGES --to FILE [flags]")
    .description("change a snapshot; a server notices within a second")
    .argument("<CHANGES>", "the file of changed lines; - for standard input")
    .requiredOption("--to <FILE>", "the snapshot to change; or s3://bucket/key")
    .option("--expect-end", 'fail unless the last line is {"type":"end","lines":N}', false)
    .option("--allow-shrink", "allow a loss of over half of the users or companies", false)
    .option("--unconditional", "write to s3:// without If-Match, as the only writer", false)
    .option("--max-errors <N>", "how many errors of each kind to report", parseMaxErrors, 5)
    .action(async (changes, flags) => {
      const location = readLocation("--to", flags.to, env);
      await (await import("./import-apply.ts")).runApply(changes, { ...flags, location });
    });

  program
    .command("export")
    .usage("FILE [--to OUT] [flags]")
    .description("write the dataset in a snapshot")
    .argument("<FILE>", "the snapshot")
    .option("--to <OUT>", "the file to write; OUT.gz, OUT.zst (default: standard output)")
    .option("--force", "overwrite a file that is not a dataset", false)
    .action(async (path, flags) => {
      const { exportDataset } = await import("../snapshot/read/export.ts");
      const { writeLines } = await import("./write-lines.ts");
      if (flags.to !== undefined) refuseSameFile(path, flags.to);
      await writeLines(await exportDataset(path), flags);
    });

  program
    .command("check")
    .usage("FILE")
    .description("read all of a snapshot and report any damage")
    .argument("<FILE>", "the snapshot")
    .action(async (path) => {
      const { checkSnapshot } = await import("../snapshot/read/check.ts");
      const { built_at, counts } = await checkSnapshot(path);
      writeStdout(`${path} is whole: built ${built_at}, ${describeCounts(counts)}\n`);
    });

  program
    .command("seed")
    .usage("--users N [flags]")
    .description("invent a dataset of any size")
    .requiredOption("--users <N>", "how many users to invent", parseInteger(0, 100_000_000))
    .option(
      "--companies <M>",
      "how many companies (default: one for 25 users)",
      parseInteger(0, 50_000_000),
    )
    .option(
      "--seed <S>",
      "the same number invents the same dataset",
      parseInteger(0, 0xffff_ffff),
      1,
    )
    .option("--to <OUT>", "the file to write; OUT.gz, OUT.zst (default: standard output)")
    .option("--force", "overwrite a file that is not a dataset", false)
    .action(async (flags) => (await import("./seed.ts")).runSeed(flags));

  program
    .command("schema")
    .usage("[flags]")
    .description("print the JSON Schema of the dataset's lines")
    .action(async () => {
      const { datasetSchema } = await import("../domain/dataset.ts");
      writeStdout(`${JSON.stringify(datasetSchema(), null, 2)}\n`);
    });

  program
    .command("openapi")
    .usage("[flags]")
    .description("print the OpenAPI document of the interface")
    .option("--public-url <URL>", "the server that it names", parseBaseUrl, "http://127.0.0.1:3000")
    .action(async ({ publicUrl }) => {
      const { createRoadbook } = await import("../roadbook.ts");
      await using roadbook = await createRoadbook({ demo: true, publicUrl });
      const response = await roadbook.fetch(new Request("http://localhost/docs/json"));
      writeStdout(`${JSON.stringify(await response.json(), null, 2)}\n`);
    });

  program
    .command("health")
    .usage("[URL] [flags]")
    .description("ask a running server how it is")
    .argument("[URL]", "the server, such as https://api.example.org", parseBaseUrl)
    .option("--host <ADDRESS>", "without URL: its address", "127.0.0.1")
    .option("--port <N>", "without URL: its port", parsePort, 3000)
    .option("--tls-cert <FILE>", "without URL: it serves https")
    .addHelpText(
      "after",
      `
The flags and their variables are those of serve, so that both may share one
environment. Exits with 1 when the server does not respond, or not well.`,
    )
    .action(async (url, flags) => (await import("./health.ts")).runHealth(url, flags));

  program
    .command("version")
    .usage("[flags]")
    .description("print the version")
    .action(() => {
      writeStdout(`roadbook ${version}\n`);
    });

  for (const command of program.commands) completeDeclaration(command, env);
  return program;
}

/** How the flags of a command, if it has any, are set by variables. */
function environmentHelp({ parent, options }: AnyCommand): string {
  const [option] = options;
  if (!parent || !option) return "";
  const hasBoolean = options.some((other) => other.isBoolean());
  return `
A flag goes before its environment variable (--${option.name()}: ${variableOf(option)}),
and that before the default.${hasBoolean ? " For a flag without a value, the variable is 1 or 0." : ""}`;
}

/**
 * Puts `serve` where no command is named. A name that no command has stays alone on the line: what
 * follows it, such as --help, would keep commander from noticing.
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
  if (first === "-v") return ["--version"];
  return /^(?:-h|--help|-V|--version)$/.test(first) ? argv : ["serve", ...argv];
}

/**
 * Cuts the value off `--flag=value` where no flag with a value has that name: the value may be a
 * secret, and it would keep commander from finding the nearest name.
 */
function cutStrayValues(command: AnyCommand | undefined, args: string[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, at) => {
    const [, name] = /^(--[^=]+)=/.exec(arg) ?? [];
    if (name === undefined || (end >= 0 && at > end)) return arg;
    const option = command?.options.find(({ long }) => long === name);
    if (option?.isBoolean()) throw new UsageError(`${name} takes no value`);
    return option ? arg : name;
  });
}

/** Commander's errors in one line, which never repeats a value. */
function usageErrorOf({ code, message }: CommanderError, command: AnyCommand): UsageError {
  const [, subject = ""] = /'(-[^\s=']*|.*(?='))/s.exec(message) ?? [];
  const [, hint] = /\(Did you mean (?:one of )?(.*)\?\)$/.exec(message) ?? [];
  const name = command.parent ? `roadbook ${command.name()}` : "roadbook";
  const help = hint ? `did you mean ${hint.replaceAll(", ", " or ")}?` : `see ${name} --help`;
  const messages: Record<string, string> = {
    "commander.unknownCommand": `there is no command "${subject}"; ${help}`,
    "commander.unknownOption": `there is no flag ${subject}; ${help}`,
    "commander.optionMissingArgument": `${subject} needs a value; ${help}`,
    "commander.missingArgument": `${subject} is missing; ${usageOf(command)}`,
    "commander.excessArguments": `too many arguments; ${usageOf(command)}`,
  };
  return new UsageError(messages[code] ?? `${message}; ${help}`);
}
