/**
 * What the operator may set: flags before environment before defaults. One table says it all: the
 * parser, the help and the README's table come from it. The only reader of the environment.
 */
import { parseArgs } from "node:util";
import { parseCidr } from "./limit/client.ts";
import { DEFAULT_MAX_CLIENTS } from "./limit/limiter.ts";
import { parseStoreUrl } from "./limit/redis.ts";

/** Wrong usage: `message` is one line for the operator, and the command exits with 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

export interface Flag {
  /** What stands for the value in the help; a flag without one is on when it is given. */
  value?: string;
  /** The default as the operator would write it. */
  fallback?: string;
  /** May be given more than once; in the environment, separated by commas. */
  isList?: boolean;
  about: string;
}

export const flags = {
  snapshot: { value: "FILE", about: "the snapshot to serve (default: the bundled demo)" },
  host: { value: "ADDRESS", fallback: "127.0.0.1", about: "the address to listen on" },
  port: { value: "N", fallback: "3000", about: "the port to listen on; 0 picks a free one" },
  "public-url": {
    value: "URL",
    about: "completes avatar paths (default: the origin of each request)",
  },
  "search-limit": {
    value: "N",
    fallback: "30",
    about: "searches a client may make in a window; 0 for no limit",
  },
  "search-window": {
    value: "TIME",
    fallback: "1h",
    about: "the length of that window, such as 1h, 2s or 500ms",
  },
  "trusted-proxy": {
    value: "CIDR",
    isList: true,
    about: "believe X-Forwarded-For from these addresses; repeatable",
  },
  "ipv6-prefix": {
    value: "N",
    fallback: "64",
    about: "IPv6 clients are counted as one by so many leading bits",
  },
  "max-clients": {
    value: "N",
    fallback: String(DEFAULT_MAX_CLIENTS),
    about: "clients told apart; past that, a newcomer takes the count of the longest unseen",
  },
  "rate-limit-store": {
    value: "URL",
    about:
      "count on a Redis or Valkey that several machines share (redis://, rediss://, valkey://)",
  },
  "cache-max-age": {
    value: "SECONDS",
    fallback: "0",
    about: "how long a cache may keep an answer without asking again",
  },
  grace: {
    value: "TIME",
    fallback: "10s",
    about: "how long what is under way may take after SIGTERM",
  },
  "tls-cert": { value: "FILE", about: "serve https with this certificate (PEM)" },
  "tls-key": { value: "FILE", about: "and this key (PEM)" },
  "log-level": {
    value: "LEVEL",
    fallback: "info",
    about: "the least that is logged: trace, debug, info, warn, error, fatal or silent",
  },
  "access-log": { about: "log a line a request; it has the client's address, so off by default" },
  "admin-port": {
    value: "N",
    about: "the port for /metrics, /live and /ready; 0 picks a free one (default: none)",
  },
  "admin-host": {
    value: "ADDRESS",
    fallback: "127.0.0.1",
    about: "the address for that port; whoever reaches it reads the metrics",
  },
  to: { value: "FILE", about: "the file to write" },
  "expect-end": {
    about: 'fail unless the last line is the end line, {"type":"end","lines":N}',
  },
  "allow-shrink": {
    about: "let more than half of the users or companies of the replaced snapshot go",
  },
  "skip-invalid": {
    about: "leave out lines that are wrong, and references to what is not there, and report them",
  },
  users: { value: "N", about: "how many users to invent" },
  companies: { value: "M", about: "how many companies (default: one for 25 users)" },
  seed: { value: "S", fallback: "1", about: "a number; another one is another community" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;

export interface Command {
  /** What follows the command's name. */
  usage: string;
  about: string;
  flags: readonly FlagName[];
  /** How many words may follow, at least and at most. */
  words: [number, number];
}

export const commands = {
  serve: {
    usage: "",
    about: "answer requests (the default command)",
    flags: [
      "snapshot",
      "host",
      "port",
      "public-url",
      "search-limit",
      "search-window",
      "trusted-proxy",
      "ipv6-prefix",
      "max-clients",
      "rate-limit-store",
      "cache-max-age",
      "grace",
      "tls-cert",
      "tls-key",
      "log-level",
      "access-log",
      "admin-port",
      "admin-host",
    ],
    words: [0, 0],
  },
  import: {
    usage: "DATASET --to FILE",
    about: "make a snapshot of a dataset (NDJSON, plain, gzip or zstd; - for standard input)",
    flags: ["to", "expect-end", "allow-shrink", "skip-invalid"],
    words: [1, 1],
  },
  apply: {
    usage: "CHANGES --to FILE",
    about: "change a snapshot by lines that replace or delete; a server sees it at once",
    flags: ["to", "expect-end"],
    words: [1, 1],
  },
  export: {
    usage: "FILE [--to OUT]",
    about: "write the dataset in a snapshot (to standard output without --to)",
    flags: ["to"],
    words: [1, 1],
  },
  check: {
    usage: "FILE",
    about: "read all of a snapshot and say whether it is as it was written",
    flags: [],
    words: [1, 1],
  },
  seed: {
    usage: "--users N [--companies M] [--seed S] [--to OUT]",
    about: "invent a dataset of any size (to standard output without --to)",
    flags: ["users", "companies", "seed", "to"],
    words: [0, 0],
  },
  schema: {
    usage: "",
    about: "print the JSON Schema of the dataset's lines",
    flags: [],
    words: [0, 0],
  },
  health: {
    usage: "[URL]",
    about: "ask a running server how it is; exits 1 when it does not answer well",
    flags: ["host", "port", "tls-cert"],
    words: [0, 1],
  },
  openapi: { usage: "", about: "print the OpenAPI document", flags: [], words: [0, 0] },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof commands;

/** The values of a command line, completed from the environment and the defaults. */
export interface Settings {
  command: CommandName;
  words: string[];
  /** The value of a flag as written, or its default, or undefined. */
  text(flag: FlagName): string | undefined;
  /** The values of a flag that may be given more than once. */
  list(flag: FlagName): string[];
  /** Whether a flag without value is given. */
  isOn(flag: FlagName): boolean;
}

type Environment = Record<string, string | undefined>;

/** Reads a command line. Throws a {@link UsageError}. */
export function parseCommandLine(argv: string[], env: Environment = process.env): Settings {
  const [first = "serve"] = argv;
  const isNamed = !first.startsWith("-");
  const name = isNamed ? first : "serve";
  if (!isCommand(name)) {
    throw new UsageError(`there is no command "${name}"; see roadbook --help`);
  }
  const command: Command = commands[name];
  const { values, positionals } = parseFlags(name, command, isNamed ? argv.slice(1) : argv);
  const [least, most] = command.words;
  if (positionals.length < least || positionals.length > most) {
    throw new UsageError(`usage: roadbook ${name} ${command.usage}`.trimEnd());
  }
  const text = (flag: FlagName) => {
    const { fallback }: Flag = flags[flag];
    const value = values[flag];
    return typeof value === "string" ? value : env[variableOf(flag)] || fallback;
  };
  const list = (flag: FlagName) => {
    const value = values[flag];
    if (Array.isArray(value)) return value.map(String);
    return (env[variableOf(flag)] ?? "")
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean);
  };
  const isOn = (flag: FlagName) => {
    if (values[flag] === true) return true;
    const value = env[variableOf(flag)] || "0";
    if (/^(?:0|1|true|false)$/.test(value)) return value === "1" || value === "true";
    throw new UsageError(`${variableOf(flag)} is "${value}", not 1 or 0`);
  };
  return { command: name, words: positionals, text, list, isOn };
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

function parseFlags(name: CommandName, command: Command, args: string[]) {
  const options = Object.fromEntries(
    command.flags.map((flag) => {
      const { value, isList = false }: Flag = flags[flag];
      const type = value === undefined ? ("boolean" as const) : ("string" as const);
      return [flag, { type, multiple: isList }];
    }),
  );
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const [sentence = ""] = String(error instanceof Error ? error.message : error).split(/\. |\n/);
    throw new UsageError(`${sentence}; see roadbook ${name} --help`);
  }
}

/** The environment variable that stands for a flag. */
export function variableOf(flag: FlagName): string {
  return `ROADBOOK_${flag.toUpperCase().replaceAll("-", "_")}`;
}

export interface ServeConfig {
  snapshot: string | undefined;
  host: string;
  port: number;
  publicUrl: string | undefined;
  searchLimit: number;
  searchWindowMs: number;
  trustedProxies: string[];
  ipv6Prefix: number;
  maxClients: number;
  rateLimitStore: string | undefined;
  cacheMaxAgeSeconds: number;
  graceMs: number;
  tls: { cert: string; key: string } | undefined;
  logLevel: string;
  accessLog: boolean;
  admin: { host: string; port: number } | undefined;
}

/** The settings of `serve`, read and checked. Throws a {@link UsageError} that names the flag. */
export function serveConfig(settings: Settings): ServeConfig {
  return {
    snapshot: settings.text("snapshot"),
    host: settings.text("host") ?? "",
    port: integer(settings, "port", 65_535),
    publicUrl: publicUrl(settings),
    searchLimit: integer(settings, "search-limit", 1_000_000),
    searchWindowMs: duration(settings, "search-window"),
    trustedProxies: trustedProxies(settings),
    ipv6Prefix: integer(settings, "ipv6-prefix", 128),
    maxClients: integer(settings, "max-clients", 2 ** 24, 1),
    rateLimitStore: rateLimitStore(settings),
    cacheMaxAgeSeconds: integer(settings, "cache-max-age", 31_536_000),
    graceMs: duration(settings, "grace"),
    tls: tls(settings),
    logLevel: logLevel(settings),
    accessLog: settings.isOn("access-log"),
    admin: admin(settings),
  };
}

/** A flag that must be given. */
export function required(settings: Settings, flag: FlagName): string {
  const text = settings.text(flag);
  if (text) return text;
  const { usage } = commands[settings.command];
  throw new UsageError(`--${flag} is missing; usage: roadbook ${settings.command} ${usage}`);
}

/** A whole number from `least` to `most`. */
export function integer(settings: Settings, flag: FlagName, most: number, least = 0): number {
  const text = settings.text(flag) ?? "";
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw wrong(flag, text, `a whole number from ${least} to ${most}`);
}

function trustedProxies(settings: Settings): string[] {
  const cidrs = settings.list("trusted-proxy");
  for (const cidr of cidrs) {
    try {
      parseCidr(cidr);
    } catch {
      throw wrong(
        "trusted-proxy",
        cidr,
        "an address or a CIDR, such as 10.0.0.0/8 or 2001:db8::/32",
      );
    }
  }
  return cidrs;
}

/** The URL may hold a password, so no message repeats it. */
function rateLimitStore(settings: Settings): string | undefined {
  const text = settings.text("rate-limit-store");
  if (text === undefined) return undefined;
  try {
    return parseStoreUrl(text);
  } catch {
    throw new UsageError(
      `--rate-limit-store (or ${variableOf("rate-limit-store")}) is not a redis://, rediss:// or valkey:// URL`,
    );
  }
}

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function duration(settings: Settings, flag: FlagName): number {
  const text = settings.text(flag) ?? "";
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? 0);
  if (Number.isInteger(ms) && ms >= 1 && ms <= 24 * 86_400_000) return ms;
  throw wrong(flag, text, "a time of 1ms to 24d, such as 1h, 30m, 2s or 500ms");
}

/** The paths of certificate and key. */
function tls(settings: Settings): ServeConfig["tls"] {
  const [cert, key] = [settings.text("tls-cert"), settings.text("tls-key")];
  if (cert && key) return { cert, key };
  if (cert || key) throw new UsageError("--tls-cert and --tls-key go together");
  return undefined;
}

function admin(settings: Settings): ServeConfig["admin"] {
  if (settings.text("admin-port") === undefined) return undefined;
  const host = settings.text("admin-host") ?? "";
  return { host, port: integer(settings, "admin-port", 65_535) };
}

function publicUrl(settings: Settings): string | undefined {
  const text = settings.text("public-url");
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return text;
  throw wrong(
    "public-url",
    text,
    "an http or https URL without query, such as https://example.org",
  );
}

function logLevel(settings: Settings): string {
  const text = settings.text("log-level") ?? "";
  const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
  if (levels.includes(text)) return text;
  throw wrong("log-level", text, levels.join(", "));
}

function wrong(flag: FlagName, text: string, wanted: string): UsageError {
  return new UsageError(`--${flag} (or ${variableOf(flag)}) is "${text}", not ${wanted}`);
}
