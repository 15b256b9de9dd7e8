/**
 * The settings of the server: the flags of `serve` and the options of the library. Types, names,
 * environment variables, help and the tables in the documents all follow from these declarations.
 */
import { closest, distance } from "fastest-levenshtein";
import type { DatasetLine, EndLine } from "./domain/dataset.ts";
import { type Fault, parseFault } from "./faults.ts";
import * as kinds from "./flag-kinds.ts";
import type { ResponseFacts } from "./http/request-context.ts";
import type { Limiter } from "./limit/limiter.ts";
import type { LineSource } from "./snapshot/import/read-dataset.ts";
import type { SourceStatus } from "./snapshot/remote/source.ts";
import { DEFAULT_TITLE } from "./web/brand.ts";
import { type Language, languages } from "./web/texts.ts";

const fault: kinds.Kind<Fault> = {
  value: "FAULT",
  takes: "string",
  parse: parseFault,
  convert: parseFault,
};

/** The flags of `serve` that are also options of the library. */
const sharedSettings = {
  ...group("Snapshot", {
    cacheDir: {
      kind: kinds.text("FOLDER"),
      help: "where to copy the snapshot, and where to keep a downloaded one across restarts (default: /var/tmp)",
    },
  }),
  ...group("Responses", {
    publicUrl: {
      kind: kinds.baseUrl,
      help: "base URL for links, avatars and the API docs (default: taken from the request)",
    },
    cacheMaxAge: {
      kind: kinds.maxAge,
      default: "0",
      help: "how long caches may reuse a response without revalidating it; 5m behind a shared cache keeps a hidden profile for five minutes",
    },
  }),
  ...group("Page", {
    kiosk: {
      kind: kinds.boolean,
      help: "run the page as an unattended kiosk: no external links, unlimited searches from this machine",
    },
    kioskIdle: {
      kind: kinds.time,
      default: "2m",
      help: "idle time before a kiosk returns to the start page",
    },
    language: {
      kind: kinds.oneOf("LANGUAGE", Object.keys(languages) as Language[]),
      help: "language of the page: en, de, pl, fr, es or cs (default: the browser's)",
    },
    featured: {
      kind: kinds.integer(1, Number.MAX_SAFE_INTEGER, "IDS"),
      list: ",",
      help: "drivers to show on the start page, such as 1,2,3 (default: those with the most points)",
    },
    title: {
      kind: kinds.text("NAME"),
      default: DEFAULT_TITLE,
      help: "the community's name on the page",
    },
    accent: {
      kind: kinds.colour,
      help: "accent colour of the page, such as '#0a7d4f' (default: yellow)",
    },
    logo: {
      kind: kinds.pathOrBytes,
      help: "an SVG or PNG of at most 256 KB to show next to the name",
    },
    links: {
      name: "--link TEXT=URL",
      kind: kinds.link,
      list: ";",
      help: "link at the foot of every page, such as Imprint=https://example.org; repeatable",
    },
    driverLink: {
      kind: kinds.pageLink,
      help: "your own site's page about a driver, such as https://example.org/users/{id}",
    },
    companyLink: {
      kind: kinds.pageLink,
      help: "your own site's page about a company, such as https://example.org/companies/{id}",
    },
    icons: {
      kind: kinds.webUrl,
      help: "base URL of the achievements' own pictures (default: drawings)",
    },
    allowIndexing: {
      kind: kinds.boolean,
      help: "let search engines index the page and its drivers, and serve /sitemap.xml",
    },
  }),
  ...group("Search limit", {
    searchLimit: {
      kind: kinds.integer(0, 1_000_000),
      default: "30",
      help: "how many searches a client may make per window; 0 for no limit",
    },
    searchWindow: {
      kind: kinds.time,
      default: "1h",
      help: "length of the window, such as 1h, 2s or 500ms",
    },
    unlimited: {
      kind: kinds.cidr,
      list: ",",
      help: "do not count searches from these addresses, such as those of your own servers; repeatable",
    },
    trustedProxies: {
      name: "--trusted-proxy CIDR",
      kind: kinds.cidr,
      list: ",",
      help: "trust X-Forwarded-For, -Proto and -Host from these addresses; repeatable",
    },
    ipv6Prefix: {
      kind: kinds.integer(0, 128),
      default: "64",
      help: "IPv6 addresses with the same first N bits count as one client",
    },
    maxClients: {
      kind: kinds.integer(1, 2 ** 24),
      default: "100000",
      help: "how many clients to track; when full, a new client replaces the least recently seen one and inherits its count",
    },
  }),
  ...group("Fault injection, for tests", {
    faults: {
      name: "--fault FAULT",
      kind: fault,
      list: ";",
      help: "inject a fault, such as search:status=503,rate=0.1; repeatable",
    },
    faultSeed: {
      kind: kinds.seed,
      default: "1",
      help: "random seed; the same seed and requests give the same faults",
    },
  }),
};

/** The flags of `serve`, in the order of the help. */
export const serveSettings = {
  ...group("Snapshot", {
    snapshot: {
      kind: kinds.snapshotLocation,
      help: "the snapshot to serve: a file, or an https:// or s3:// URL (default: the bundled data)",
    },
    refresh: {
      kind: kinds.time,
      default: "10s",
      help: "how often to check a snapshot URL for a new version",
    },
    fetchTimeout: {
      kind: kinds.time,
      default: "1m",
      help: "how long a snapshot download may take",
    },
  }),
  ...group("Network", {
    host: { kind: kinds.text("ADDRESS"), default: "127.0.0.1", help: "address to listen on" },
    port: { kind: kinds.port, default: "3000", help: "port to listen on; 0 picks a free one" },
    reusePort: {
      kind: kinds.boolean,
      help: "share the port with other processes of the same user (Linux)",
    },
    tlsCert: { kind: kinds.text("FILE"), help: "serve https with this certificate (PEM)" },
    tlsKey: { kind: kinds.text("FILE"), help: "the private key of that certificate (PEM)" },
    shutdownTimeout: {
      kind: kinds.time,
      default: "10s",
      help: "how long open requests may take to finish after SIGTERM",
    },
  }),
  ...group("Logs and metrics", {
    logLevel: {
      kind: kinds.oneOf("LEVEL", ["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
      default: "info",
      help: "lowest level to log: trace, debug, info, warn, error, fatal or silent",
    },
    accessLog: { kind: kinds.boolean, help: "log every request with its client's address" },
    adminPort: {
      kind: kinds.port,
      help: "port for /metrics, /live and /ready; 0 picks a free one (default: none)",
    },
    adminHost: {
      kind: kinds.text("ADDRESS"),
      default: "127.0.0.1",
      help: "address for the admin port; anyone who can reach it can read the metrics",
    },
  }),
  ...group("Page", {
    noPage: { kind: kinds.boolean, help: "do not serve the web page (/ and /drivers/{id})" },
  }),
  ...sharedSettings,
  ...group("Search limit", {
    rateLimitStore: {
      kind: kinds.storeUrl,
      help: "share the limit between machines through Redis or Valkey (redis://, rediss://, valkey://)",
    },
  }),
};

/** The options that only the library has. */
export const libraryOptions = {
  snapshot: option<string | Uint8Array>("string or object", "the path or bytes of a snapshot"),
  dataset: option<LineSource<DatasetLine | EndLine>>(
    "string or object or array",
    "the path or bytes of a dataset (NDJSON, plain or gzip), a folder of CSV files, or lines as objects",
  ),
  page: option<boolean>("boolean", "serves the web page at / and /drivers/{id}"),
  demo: option<boolean>("boolean", "serves the demo community that comes with Roadbook"),
  basePath: {
    kind: kinds.basePath,
    help: "the path where another program mounts Roadbook, such as /rb; all links start with it, but requests may omit it (default: the path of publicUrl)",
  },
  clock: option<() => number>("function", "the search limit's clock in milliseconds, for tests"),
  defaultPeer: {
    kind: kinds.text("ADDRESS"),
    help: "the client address for requests without one (default: their searches are not counted)",
  },
  compress: option<boolean>("boolean", "set it to false if the host program compresses responses"),
  onBug: option<(error: unknown, requestId: string) => void>(
    "function",
    "called with every error that causes a 500, and with every error that onResponse throws (default: console.error)",
  ),
  onResponse: option<(facts: ResponseFacts) => void>(
    "function",
    "called with facts about every response",
  ),
};

type Options<T> = { [Name in keyof T]?: GivenOf<T[Name]> | undefined };

/**
 * The options of the library. Most have the same meaning and default as the flag of `serve`, except
 * that there is a web page only if `page` is true. Options that take a list have plural names.
 */
export interface RoadbookOptions
  extends Options<typeof sharedSettings>,
    Options<typeof libraryOptions> {}

/** The parsed options, and the values that only `serve` sets. */
export interface Config
  extends Values<typeof sharedSettings>,
    Partial<Values<typeof libraryOptions>> {
  /** Replaces the limiter in memory. The caller must close it. */
  limiter?: Limiter | undefined;
  snapshotSource?: (() => SourceStatus) | undefined;
}

/** Throws a `TypeError` or a `RangeError` that names the wrong option. */
export function readOptions(options: RoadbookOptions): Config {
  const known = { ...sharedSettings, ...libraryOptions };
  const given = new Map(Object.entries(options));
  const unknown = [...given.keys()].find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) {
    throw new TypeError(`unknown option ${unknown}${suggest(unknown, Object.keys(known))}`);
  }
  const values = Object.entries<Option>(known).map(([name, option]) => {
    const value = given.get(name);
    return [name, value === undefined ? defaultOf(option) : readOption(name, option, value)];
  });
  return Object.fromEntries(values);
}

function readOption(name: string, { kind, list }: Option, given: unknown): unknown {
  const type = Array.isArray(given) ? "array" : typeof given;
  const takes = list ? "array" : kind.takes;
  if (!takes.split(" or ").includes(type)) {
    throw new TypeError(`${name} must be of type ${takes}, got ${type}`);
  }
  const convert = (value: unknown) =>
    kinds.parseNamed(name, kind, value, () => kind.convert(value as never));
  return list && Array.isArray(given) ? given.map(convert) : convert(given);
}

/** A flag or an argument of a command. */
export interface Setting {
  /** As shown in the help: `--port N`, or `FILE` for an argument. */
  name: string;
  /** The heading in the help. */
  group: string;
  kind: kinds.Kind<unknown, never>;
  help: string;
  /** Allows several values: arguments, repeated flags, text with this separator, or an array. */
  list?: "," | ";";
  /** The default, as an operator would write it. Without one, a setting can be undefined. */
  default?: string;
  required?: true;
  /** The environment variable of an argument. Every flag has one. */
  variable?: string;
}

type Row = Omit<Setting, "name" | "group"> & { name?: string };
type Option = Pick<Setting, "list" | "default"> & {
  kind: Pick<Setting["kind"], "takes" | "isSecret" | "convert">;
};

export type Settings = Record<string, Setting>;

/** Declares settings. A flag's name follows from its property, unless the row has a name. */
export function declare<Rows extends Record<string, Row>>(rows: Rows, heading?: string) {
  const settings = Object.entries(rows).map(([key, row]) => {
    const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const { name = [flag, row.kind.value].join(" ").trim() } = row;
    const group = heading ?? (isFlag({ name }) ? "Flags" : "Arguments");
    return [key, { ...row, name, group }];
  });
  return Object.fromEntries(settings) as {
    [Key in keyof Rows]: Rows[Key] & Pick<Setting, "name" | "group">;
  };
}

function group<Rows extends Record<string, Row>>(heading: string, rows: Rows) {
  return declare(rows, heading);
}

export function isFlag({ name }: Pick<Setting, "name">): boolean {
  return name.startsWith("--");
}

/** Returns a flag without its value, or the name of an argument. */
export function termOf({ name }: Setting): string {
  return name.replace(/ .*/, "");
}

/** Returns the environment variable that sets a flag or argument, if there is one. */
export function variableOf(setting: Setting): string | undefined {
  if (!isFlag(setting)) return setting.variable;
  return `ROADBOOK_${termOf(setting).slice(2).toUpperCase().replaceAll("-", "_")}`;
}

type KindOf<T> = T extends { kind: { convert(given: infer Given): infer Inside } }
  ? T extends { list: string }
    ? { given: readonly Given[]; inside: Inside[] }
    : { given: Given; inside: Inside }
  : never;
type GivenOf<T> = KindOf<T>["given"];
type Defined = { default: string } | { required: true } | { kind: typeof kinds.boolean };

/** The parsed values of settings. */
export type Values<T> = {
  [Name in keyof T]: KindOf<T[Name]>["inside"] | (T[Name] extends Defined ? never : undefined);
};

/** Declares a library-only option whose value is used as given. */
function option<Given>(takes: string, help: string) {
  return { kind: { takes, convert: (given: Given) => given }, help };
}

/** Returns the value of a setting that the caller left out. */
export function defaultOf({ kind, default: text }: Option): unknown {
  if (text !== undefined) return kind.convert(text as never);
  return kind === kinds.boolean ? false : undefined;
}

/** Returns the end of the error for an unknown name: a similar known name, or `otherwise`. */
export function suggest(name: string, known: readonly string[], otherwise = ""): string {
  const similar = closest(name, known);
  const isSimilar = distance(name, similar) <= Math.min(3, name.length / 2);
  return isSimilar ? `; did you mean ${similar}?` : otherwise;
}
