/**
 * The command line: every command with its arguments, flags, environment variables, defaults and
 * help is declared here, once. The only reader of the environment. A command's code is loaded when
 * it runs, so `--version`, the help and the ready line wait for nothing they do not use.
 */
import { readFileSync } from "node:fs";
import {
  type CommandUnknownOpts as AnyCommand,
  CommanderError,
  Option,
} from "@commander-js/extra-typings";
import { version } from "../domain/version.ts";
import { parseFault } from "../faults.ts";
import { reasonOf } from "../files/errors.ts";
import { type Language, languages } from "../web/texts.ts";
import {
  completeFromEnvironment,
  createCommand,
  type Environment,
  listUnknownVariables,
  requireMandatory,
  usageOf,
  variableOf,
} from "./flag-types.ts";
import { readSource, readTarget } from "./location.ts";
import { writeStdout } from "./output.ts";
import {
  bounds,
  parseBaseUrl,
  parseCidr,
  parseDuration,
  parseInteger,
  parseList,
  parseNonEmpty,
  parseOneOf,
  parsePort,
  parseText,
  UsageError,
} from "./values.ts";

/** Runs a command line to its end. Rejects with a {@link UsageError} or what the command throws. */
export async function runCommandLine(argv: string[], env: Environment = process.env) {
  const program = createProgram(env);
  const args = completeArguments(program, argv);
  const named = program.commands.find((command) => command.name() === args[0]);
  try {
    await program.parseAsync(cutStrayValues(named, args), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // The help and the version arrive here, too, and are no error.
    if (error.exitCode !== 0) throw usageErrorOf(error, named ?? program);
  }
}

/** The tree of commands; {@link variableOf} has their variables. */
export function createProgram(env: Environment): AnyCommand {
  const program = createCommand("roadbook");
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
      commandDescription: (command) => sentenceOf(command.description()),
      optionTerm: (option) => option.flags.replace(/[<>]/g, ""),
      optionDescription: ({ description, defaultValueDescription: defaultText }) =>
        defaultText === undefined ? description : `${description} (default: ${defaultText})`,
      subcommandTerm: (command) =>
        `${command.name()} ${command.usage().replace(/ ?\[flags\]$/, "")}`.trimEnd(),
    })
    .addHelpOption(new Option("-h, --help", "print this help").helpGroup("Help:"))
    .helpCommand("help [COMMAND]", "print the help of a command")
    .optionsGroup("Help:")
    .version(`roadbook ${version}`, "-V, --version", "print the version")
    .addHelpText(
      "after",
      `
Without a command, roadbook serves the bundled data on http://127.0.0.1:3000.
roadbook COMMAND --help prints the flags of a command and their defaults.
Exit codes: 0 done, 1 failed, 2 wrong usage.`,
    )
    .addHelpText("afterAll", ({ command }) => environmentHelp(command))
    .hook("preAction", (_, command) => {
      completeFromEnvironment(command, env);
      requireMandatory(command);
    });

  program
    .command("serve")
    .usage("[flags]")
    .description("serve requests; the default command")
    .optionsGroup("What is served:")
    .option(
      "--snapshot <FILE>",
      "the snapshot, also at an https:// or s3:// URL (default: the bundled data)",
      parseText,
    )
    .option("--trust-snapshot", "start without comparing the snapshot's checksum", false)
    .option(
      "--refresh <TIME>",
      "how often a URL is asked for a new snapshot",
      parseDuration,
      10_000,
    )
    .option("--fetch-timeout <TIME>", "how long a download may take", parseDuration, 60_000)
    .option(
      "--cache-dir <FOLDER>",
      "keeps what was downloaded, to start from (default: a temporary folder)",
      parseText,
    )
    .option("--allow-older", "accept a snapshot from a URL that is older than the last", false)
    .option(
      "--public-url <URL>",
      "completes avatar paths and names the docs' server (default: the request's)",
      parseBaseUrl,
    )
    .option(
      "--cache-max-age <SECONDS>",
      "how long a cache may reuse a response without asking again",
      parseInteger(...bounds.cacheMaxAgeSeconds),
      0,
    )
    .option("--no-page", "leave out the page for people at / and /drivers/{id}")
    .option("--kiosk", "make the page fit a screen that nobody watches over", false)
    .option(
      "--language <LANGUAGE>",
      "the language of the page: en or de (default: each reader's own)",
      parseOneOf(Object.keys(languages) as Language[]),
    )
    .option("--index", "let search engines list the page and its drivers", false)
    .optionsGroup("Limits:")
    .option(
      "--search-limit <N>",
      "searches a client may make in a window; 0 for no limit",
      parseInteger(...bounds.searchLimit),
      30,
    )
    .option(
      "--search-window <TIME>",
      "the length of that window, such as 1h, 2s or 500ms",
      parseDuration,
      3_600_000,
    )
    .option(
      "--ipv6-prefix <N>",
      "the leading bits by which IPv6 clients are counted",
      parseInteger(...bounds.ipv6Prefix),
      64,
    )
    .option(
      "--max-clients <N>",
      "clients counted apart; past that, a newcomer takes the count of the longest unseen",
      parseInteger(...bounds.maxClients),
      100_000,
    )
    .option(
      "--rate-limit-store <URL>",
      "count in a Redis or Valkey shared by several machines (redis://, rediss://, valkey://)",
      parseText,
    )
    .option(
      "--rate-limit-store-file <FILE>",
      "a file that holds this URL, so that ps does not show its password",
      parseText,
    )
    .optionsGroup("Network:")
    .option("--host <ADDRESS>", "the address to listen on", parseText, "127.0.0.1")
    .option("--port <N>", "the port to listen on; 0 picks a free one", parsePort, 3000)
    .option("--reuse-port", "share the port with other processes of the same user (Linux)", false)
    .option("--tls-cert <FILE>", "serve https with this certificate (PEM)", parseText)
    .option("--tls-key <FILE>", "the key of that certificate (PEM)", parseText)
    .option(
      "--trusted-proxy <CIDR>",
      "believe X-Forwarded-For from these; repeatable",
      parseList(parseCidr),
      [],
    )
    .option(
      "--grace <TIME>",
      "how long open requests may take after SIGTERM",
      parseDuration,
      10_000,
    )
    .optionsGroup("Logs and metrics:")
    .option(
      "--log-level <LEVEL>",
      "the lowest level to log: trace, debug, info, warn, error, fatal or silent",
      parseOneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
      "info",
    )
    .option("--access-log", "log every request, with the address of its client", false)
    .option(
      "--admin-port <N>",
      "the port of /metrics, /live and /ready; 0 picks a free one (default: none)",
      parsePort,
    )
    .option(
      "--admin-host <ADDRESS>",
      "the address of that port; whoever reaches it reads the metrics",
      parseText,
      "127.0.0.1",
    )
    .optionsGroup("Test rigs:")
    .option(
      "--fault <FAULT>",
      "what fails on purpose, such as search:status=503,rate=0.1; repeatable",
      parseList(parseFault, ";"),
      [],
    )
    .option(
      "--fault-seed <N>",
      "the same number and the same requests give the same faults",
      parseInteger(...bounds.faultSeed),
      1,
    )
    .addHelpText(
      "after",
      `
Of a flag given twice the last counts; --trusted-proxy and --fault add up. The
variable of the one has commas between the values, that of the other semicolons.

A fault is search, profile, achievements, health or * (the first three), then a
colon, then some of these with commas between them: status=503 (the response is
this error), close (there is none), delay=200ms, jitter=50ms, rate=0.1 (of the
requests).`,
    )
    .action(async (flags, command) => {
      const { tlsCert: cert, tlsKey: key, adminPort, adminHost } = flags;
      if ((cert === undefined) !== (key === undefined)) {
        throw new UsageError("--tls-cert and --tls-key go together");
      }
      if (flags.reusePort && process.platform !== "linux") {
        throw new UsageError("--reuse-port needs Linux");
      }
      const source = flags.snapshot === undefined ? undefined : readSource(flags.snapshot, env);
      const { runServe } = await import("./serve.ts");
      await runServe({
        ...flags,
        source,
        refreshMs: flags.refresh,
        fetchTimeoutMs: flags.fetchTimeout,
        searchWindowMs: flags.searchWindow,
        cacheMaxAgeSeconds: flags.cacheMaxAge,
        graceMs: flags.grace,
        trustedProxies: flags.trustedProxy,
        faults: flags.fault,
        tls: cert && key ? { cert, key } : undefined,
        admin: adminPort === undefined ? undefined : { host: adminHost, port: adminPort },
        rateLimitStore: await findStoreUrl(command),
        unknownVariables: listUnknownVariables(program, env),
      });
    });

  program
    .command("import")
    .usage("DATASET --to FILE [flags]")
    .description("make a snapshot of a dataset (NDJSON, gzip or zstd)")
    .argument("<DATASET>", "the file of the dataset; - for standard input", parseNonEmpty)
    .requiredOption("--to <FILE>", "the snapshot to write; FILE.zst, s3://bucket/key", parseText)
    .option("--expect-end", 'fail unless the last line is {"type":"end","lines":N}', false)
    .option("--allow-shrink", "allow a loss of over half of the users or companies", false)
    .option("--skip-invalid", "leave out invalid lines and report them", false)
    .action(async (dataset, flags) =>
      (await import("./import.ts")).runImport({
        dataset,
        ...flags,
        location: readTarget(flags.to, env),
      }),
    );

  program
    .command("apply")
    .usage("CHANGES --to FILE [flags]")
    .description("change a snapshot; a server notices within a second")
    .argument("<CHANGES>", "the file of changed lines; - for standard input", parseNonEmpty)
    .requiredOption("--to <FILE>", "the snapshot to change; or s3://bucket/key", parseText)
    .option("--expect-end", 'fail unless the last line is {"type":"end","lines":N}', false)
    .action(async (changes, flags) =>
      (await import("./apply.ts")).runApply({
        changes,
        ...flags,
        location: readTarget(flags.to, env),
      }),
    );

  program
    .command("export")
    .usage("FILE [--to OUT]")
    .description("write the dataset in a snapshot")
    .argument("<FILE>", "the snapshot", parseNonEmpty)
    .option("--to <OUT>", "the file to write (default: standard output)", parseText)
    .action(async (path, { to }) => (await import("./export.ts")).runExport(path, to));

  program
    .command("check")
    .usage("FILE")
    .description("read all of a snapshot and report any damage")
    .argument("<FILE>", "the snapshot", parseNonEmpty)
    .action(async (path) => (await import("./check.ts")).runCheck(path));

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
    .option("--to <OUT>", "the file to write (default: standard output)", parseText)
    .action(async (flags) => (await import("./seed.ts")).runSeed(flags));

  program
    .command("schema")
    .usage("[flags]")
    .description("print the JSON Schema of the dataset's lines")
    .action(async () => (await import("./schema.ts")).runSchema());

  program
    .command("openapi")
    .usage("[flags]")
    .description("print the OpenAPI document of the interface")
    .option("--public-url <URL>", "the server that it names", parseBaseUrl, "http://127.0.0.1:3000")
    .action(async (flags) => (await import("./openapi.ts")).runOpenapi(flags));

  program
    .command("health")
    .usage("[URL] [flags]")
    .description("ask a running server how it is")
    .argument("[URL]", "the server, such as https://api.example.org", parseBaseUrl)
    .option("--host <ADDRESS>", "without URL: its address", parseText, "127.0.0.1")
    .option("--port <N>", "without URL: its port", parsePort, 3000)
    .option("--tls-cert <FILE>", "without URL: it serves https", parseText)
    .addHelpText(
      "after",
      `
The flags and their variables are those of serve, so that both may share one
environment. Exits with 1 when the server does not respond, or not well.`,
    )
    .action(async (url, flags) => (await import("./health.ts")).runHealth(url, flags));

  program
    .command("completion")
    .usage("SHELL")
    .description("print the script that completes commands and flags in a shell")
    .argument("<SHELL>", "bash, zsh or fish", parseOneOf(["bash", "zsh", "fish"]))
    .argument("[WORDS...]", "what the script asks to complete")
    .action(async (shell, words) => {
      const { formatCandidates, formatScript } = await import("./completion.ts");
      const isAsked = words.length > 0;
      writeStdout(isAsked ? formatCandidates(program, shell, words) : formatScript(shell));
    });

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

function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/**
 * The URL of the store, given itself or in a file; of both, the one on the command line counts. It
 * may hold a password, so no message repeats it.
 */
async function findStoreUrl(serve: AnyCommand): Promise<string | undefined> {
  const given = ["rateLimitStore", "rateLimitStoreFile"].filter((key) => serve.getOptionValue(key));
  const onCommandLine = given.filter((key) => serve.getOptionValueSource(key) === "cli");
  const [key, other] = onCommandLine.length > 0 ? onCommandLine : given;
  if (key === undefined) return undefined;
  if (other !== undefined) {
    throw new UsageError("--rate-limit-store and --rate-limit-store-file exclude each other");
  }
  const value = String(serve.getOptionValue(key));
  const isFile = key === "rateLimitStoreFile";
  const { isStoreUrl } = await import("../limit/redis.ts");
  const url = isFile ? readText(value).trim() : value;
  if (isStoreUrl(url)) return url;
  const kind = "redis://, rediss:// or valkey:// URL";
  if (isFile) throw new Error(`${value} holds no ${kind}`);
  const isFlag = onCommandLine.length > 0;
  throw new UsageError(
    `${isFlag ? "--rate-limit-store" : "ROADBOOK_RATE_LIMIT_STORE"} is not a ${kind}`,
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`${path} cannot be read: ${reasonOf(error)}`);
  }
}

/**
 * Puts `serve` where no command is named. A name that no command has stays alone on the line: what
 * follows it, such as --help, would keep commander from noticing.
 */
function completeArguments(program: AnyCommand, argv: string[]): string[] {
  const [first, second] = argv;
  const has = (name: string) => program.commands.some((command) => command.name() === name);
  if (first === undefined) return ["serve"];
  if (first === "help") {
    if (second === undefined || second.startsWith("-") || second === first) return ["--help"];
    return has(second) ? [second, "--help"] : [second];
  }
  if (!first.startsWith("-")) return has(first) ? argv : [first];
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
  switch (code) {
    case "commander.unknownCommand":
      return new UsageError(`there is no command "${subject}"; ${help}`);
    case "commander.unknownOption":
      return new UsageError(`there is no flag ${subject}; ${help}`);
    case "commander.optionMissingArgument":
      return new UsageError(`${subject} needs a value; ${help}`);
    case "commander.missingArgument":
      return new UsageError(`${subject} is missing; ${usageOf(command)}`);
    case "commander.excessArguments":
      return new UsageError(`too many arguments; ${usageOf(command)}`);
    default:
      return new UsageError(`${message.replace(/^error: /, "")}; ${help}`);
  }
}
