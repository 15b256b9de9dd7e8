/**
 * Declares every command with its arguments, its flags and its help. A command's code is loaded
 * only when that command runs, so that `--version`, `--help` and `serve` start fast.
 */
import { formatDuration, MAX_DURATION_DAYS } from "../domain/duration.ts";
import {
  DATABASE_TIMEOUT_MS,
  ERRORS_PER_KIND,
  MAX_HOLD_MS,
  USERS_PER_COMPANY,
  WAIT_MS,
} from "../domain/limits.ts";
import { paragraph } from "../domain/text.ts";
import { declare, type Settings, type Values, variableOf } from "../settings/declare.ts";
import * as kinds from "../settings/kinds.ts";
import { DEFAULT_ORIGIN, serveSettings } from "../settings/serve-flags.ts";
import { dateOrders } from "../tables/date-order.ts";
import { describeCounts } from "./counts.ts";
import { toLine, writeStdout } from "./stdout.ts";

export interface Command<Given extends Settings = Settings> {
  summary: string;
  settings: Given;
  /** Paragraphs for the help. */
  notes?: readonly string[];
  /** Lines for the end of the help, without the program's name. */
  examples: readonly string[];
  run(values: Values<Given>): Promise<void>;
}

/** Infers the types of the values for `run`. */
function command<Given extends Settings>(given: Command<Given>): Command {
  return given;
}

const file = {
  name: "FILE",
  kind: kinds.text("FILE"),
  required: true,
  help: "a snapshot",
} as const;

const json = { kind: kinds.boolean, help: "print one JSON object, also for an error" };

/** The flags of commands that write a dataset. */
const output = {
  to: { kind: kinds.output, help: "the file to write; - for standard output (the default)" },
  force: { kind: kinds.boolean, help: "overwrite the target even if it is not a dataset" },
};

/** The flags of commands that read lines. */
const reading = {
  expectEnd: { kind: kinds.boolean, help: 'fail unless the last line is {"type":"end","lines":N}' },
  allowShrink: { kind: kinds.boolean, help: "allow losing most users or most of what they have" },
  maxErrors: {
    kind: kinds.integer(1, 1_000_000),
    default: String(ERRORS_PER_KIND),
    help: "errors to show per kind",
  },
};

/** The flags of commands that write a snapshot. */
const writing = {
  idMap: { kind: kinds.text("FILE"), help: "allow ids of any kind, kept as integers in this file" },
  waitMs: {
    kind: kinds.time,
    default: formatDuration(WAIT_MS),
    help: "how long to wait for writers, then --confirm",
  },
  confirm: { kind: kinds.baseUrl, help: "fail unless the server there serves the new snapshot" },
  json,
};

export const commands: Record<string, Command> = {
  serve: command({
    summary: "start the server (the default command)",
    settings: serveSettings,
    notes: [
      paragraph(
        "If a flag for a single value is given twice, the last one wins.",
        "In an environment variable, separate multiple values with commas, or with semicolons in",
        "ROADBOOK_LINK and ROADBOOK_FAULT.",
      ),
      paragraph(
        "A TIME is a whole number of seconds, or a number with a unit, up to",
        `${MAX_DURATION_DAYS} days: 500ms, 10s, 5m, 1h, 1d.`,
      ),
      paragraph(
        "A FAULT is a target, a colon and a comma-separated list.",
        "The target is search, profile, achievements, health, or * for the first three.",
        "The list has status=503 (respond with this error), close (close the connection without a",
        "response; HEAD gets a 500) or delay=200ms (respond later); delay may be combined with",
        "either of the others.",
        "It may also have rate=0.1 (affect only this share of the requests) and times=2 (stop",
        "after two requests).",
        "With --fault none, nothing fails yet.",
        "With --fault and --admin-port, PUT /faults on the admin port replaces the faults (the",
        "body is a JSON list of them), GET /faults lists them, and DELETE /search-limit resets the",
        "search limit.",
      ),
    ],
    examples: [
      "serve --snapshot community.snapshot --port 8080",
      "serve --search-limit 0 --fault search:status=503 --admin-port 9090",
      'serve --kiosk --title "Truck Expo"',
    ],
    run: async (values) => (await import("./serve.ts")).runServe(values, listUnknownVariables()),
  }),

  import: command({
    summary: "build a snapshot from NDJSON (plain or gzip), CSV files or a database",
    settings: declare("Flags", {
      source: {
        name: "SOURCE",
        kind: kinds.text("SOURCE"),
        variable: "ROADBOOK_DATABASE",
        required: true,
        help: "NDJSON file, - for standard input, folder of CSV files, snapshot, or database URL",
      },
      to: { kind: kinds.target, required: true, waivedBy: "dryRun", help: "the snapshot to write" },
      queries: { kind: kinds.text("FOLDER"), help: "folder of SELECTs for the database SOURCE" },
      timeoutMs: {
        kind: kinds.time,
        default: formatDuration(DATABASE_TIMEOUT_MS),
        help: "how long a database server may take",
      },
      dates: {
        kind: kinds.oneOf("dmy|mdy", dateOrders),
        help: "read 5/6/2021 in CSV files as 5 June or as May 6 (default: other dates show it)",
      },
      decodeHtml: { kind: kinds.boolean, help: "decode HTML entities in names and descriptions" },
      avatarBase: { kind: kinds.publicUrl, help: "base URL for avatars that are not http(s) URLs" },
      dryRun: { kind: kinds.boolean, help: "check the dataset and write nothing; needs no --to" },
      force: { kind: kinds.boolean, help: "overwrite any regular file, and accept other ids" },
      skipInvalid: { kind: kinds.boolean, help: "skip most of what is invalid, and report it" },
      allowReveal: {
        kind: kinds.boolean,
        help: "allow most private users to become public or absent",
      },
      allowRenames: { kind: kinds.boolean, help: "allow most users to have other names" },
      holdMs: {
        kind: kinds.timeOrZero,
        default: formatDuration(MAX_HOLD_MS),
        help: paragraph(
          "how long a user whom apply or hide made private or deleted stays so, whatever SOURCE",
          `says; at most ${formatDuration(MAX_HOLD_MS)}, 0 for not at all`,
        ),
      },
      ...reading,
      ...writing,
    }),
    notes: [
      paragraph(
        "The URL of a database begins with postgres://, mysql:// or mariadb://, or is sqlite:FILE.",
        "If it is in ROADBOOK_DATABASE instead of SOURCE, other users cannot see its password in",
        "ps.",
      ),
    ],
    examples: [
      "import my-tables --to community.snapshot",
      "import dataset.ndjson --expect-end --to community.snapshot",
      "import sqlite:platform.db --queries my-queries --dry-run",
    ],
    run: async (values) => (await import("./import-apply-hide.ts")).runImport(values),
  }),

  apply: command({
    summary: "apply a change file to a snapshot",
    settings: declare("Flags", {
      changes: {
        name: "CHANGES",
        kind: kinds.text("CHANGES"),
        required: true,
        help: "the change file; - for standard input",
      },
      to: { kind: kinds.target, required: true, help: "the snapshot to change" },
      ...reading,
      ...writing,
    }),
    notes: [
      paragraph(
        "A server that reads this file notices the new snapshot within a second, and serves it",
        "once it has verified it.",
      ),
    ],
    examples: [
      "apply changes.ndjson --to community.snapshot",
      "apply - --to community.snapshot < changes.ndjson",
    ],
    run: async (values) => (await import("./import-apply-hide.ts")).runApply(values),
  }),

  hide: command({
    summary: "make users private",
    settings: declare("Flags", {
      ids: {
        name: "ID…",
        kind: kinds.text("ID"),
        list: {},
        required: true,
        help: "user ids",
      },
      to: { kind: kinds.target, required: true, help: "the snapshot to change" },
      ...writing,
    }),
    notes: [
      paragraph(
        "Unless all users are found, nothing is written and the exit code is 1.",
        "A server that reads this file notices the change within a second, and hides them once it",
        "has verified the new snapshot.",
        "For an hour, imports into the same file keep them private, whatever their source says,",
        "unless --hold shortens this or apply makes them public; hiding them again starts a new",
        "hour.",
      ),
    ],
    examples: ["hide 42 --to community.snapshot", "hide 42 44 --to community.snapshot --json"],
    run: async (values) => (await import("./import-apply-hide.ts")).runHide(values),
  }),

  export: command({
    summary: "export the data of a snapshot as a dataset",
    settings: declare("Flags", { file, ...output }),
    examples: [
      "export community.snapshot --to backup.ndjson",
      "export community.snapshot | gzip > backup.ndjson.gz",
    ],
    run: async (values) => (await import("./export-seed.ts")).runExport(values),
  }),

  check: command({
    summary: "verify a snapshot and report any damage",
    settings: declare("Flags", { file, json }),
    examples: ["check community.snapshot", "check community.snapshot --json"],
    async run({ file, json }) {
      const { checkSnapshot } = await import("../snapshot/format/check.ts");
      const { built_at, counts, sha256 } = await checkSnapshot(file);
      const sentence = `${file} is intact: built ${built_at}, ${describeCounts(counts)}\n`;
      writeStdout(json ? toLine({ snapshot: file, sha256, built_at, counts }) : sentence);
    },
  }),

  seed: command({
    summary: "generate a made-up dataset",
    settings: declare("Flags", {
      users: { kind: kinds.integer(0, 100_000_000), required: true, help: "how many users" },
      companies: {
        kind: kinds.integer(0, 50_000_000),
        help: `how many (default: 1 per ${USERS_PER_COMPANY} users)`,
      },
      seed: { kind: kinds.seed, default: "1", help: "the same numbers give the same dataset" },
      tables: { kind: kinds.text("FOLDER"), help: "write CSV files, as import reads them" },
      ...output,
    }),
    examples: [
      "seed --users 100 --tables sample-tables",
      "seed --users 3000 --to dataset.ndjson",
      "seed --users 10000 --seed 7 | roadbook import - --to large.snapshot",
    ],
    run: async (values) => (await import("./export-seed.ts")).runSeed(values),
  }),

  schema: command({
    summary: "print the JSON Schema for dataset lines",
    settings: {},
    examples: ["schema > dataset.schema.json", "schema | head -n 20"],
    async run() {
      const { datasetSchema } = await import("../domain/dataset.ts");
      writeStdout(`${JSON.stringify(datasetSchema(), null, 2)}\n`);
    },
  }),

  openapi: command({
    summary: "print the OpenAPI document for the API",
    settings: declare("Flags", {
      publicUrl: { kind: kinds.publicBaseUrl, default: DEFAULT_ORIGIN, help: "the server URL" },
    }),
    examples: [
      "openapi > openapi.json",
      "openapi --public-url https://api.example.org > openapi.json",
    ],
    async run({ publicUrl }) {
      const { createRoadbook } = await import("../roadbook.ts");
      await using roadbook = await createRoadbook({ demo: true, publicUrl });
      const response = await roadbook.fetch(new Request("http://localhost/docs/json"));
      writeStdout(`${JSON.stringify(await response.json(), null, 2)}\n`);
    },
  }),

  licences: command({
    summary: "print the licences of all parts of this program",
    settings: {},
    examples: ["licences > LICENCES.txt", "licences | grep -i sqlite"],
    async run() {
      const { licences } = await import("../web/assets.ts");
      writeStdout(await licences());
    },
  }),

  health: command({
    summary: "check whether a running server is healthy",
    settings: declare("Flags", {
      url: {
        name: "URL",
        kind: kinds.baseUrl,
        variable: "ROADBOOK_HEALTH_URL",
        help: "the server's base URL, such as https://api.example.org",
      },
      host: { ...serveSettings.host, help: "the server's address, if no URL is given" },
      port: { ...serveSettings.port, help: "the server's port, if no URL is given" },
    }),
    notes: [
      paragraph(
        "These flags use the same environment variables as serve, so both commands can share one",
        "environment.",
        "If the server has a certificate, give its URL, or set ROADBOOK_HEALTH_URL.",
        "The exit code is 1 if the server does not respond or is unhealthy.",
      ),
    ],
    examples: ["health", "health --port 8080", "health https://api.example.org"],
    run: async (values) => (await import("./health.ts")).runHealth(values),
  }),

  completion: command({
    summary: "print the completion script of a shell",
    settings: declare("Flags", {
      shell: {
        name: "bash|zsh|fish",
        kind: kinds.oneOf("SHELL", ["bash", "zsh", "fish"]),
        required: true,
        help: "the shell",
      },
      line: { name: "LINE", kind: kinds.text("LINE"), help: "complete this command line instead" },
    }),
    examples: [
      "completion bash > ~/.local/share/bash-completion/completions/roadbook",
      "completion zsh > ~/.zfunc/_roadbook",
      "completion fish > ~/.config/fish/completions/roadbook.fish",
    ],
    async run({ shell, line }) {
      const { complete, completionScripts } = await import("./completion.ts");
      writeStdout(line === undefined ? completionScripts[shell] : complete(line, commands));
    },
  }),
};

/** Lists the variables that look like settings but are not, most likely because of a typo. */
function listUnknownVariables(): string[] {
  const settings = Object.values(commands).flatMap(({ settings }) => Object.values(settings));
  const known = new Set(settings.map(variableOf));
  return Object.keys(process.env).filter((name) => /^ROADBOOK_/.test(name) && !known.has(name));
}
