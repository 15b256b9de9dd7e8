/**
 * The kinds of values that settings have: how each is read from text, and what the library takes
 * instead. A parser's error leaves out the setting's name, as in "must be 1 or 0".
 */
import { parseCidr } from "./limit/client-address.ts";
import {
  parseS3Location,
  parseWebLocation,
  type RemoteLocation,
} from "./snapshot/remote/location.ts";

/** Reports incorrect usage, for which a command exits with 2. The message is for the operator. */
export class UsageError extends RangeError {
  override name = "UsageError";
  /** Whether the value may contain a secret, and so must not be repeated. */
  isSecret = false;
}

export type Environment = Record<string, string | undefined>;

/** A kind of value: `Given` is what the library takes, and `Inside` is what the code uses. */
export interface Kind<Inside, Given = string> {
  /** The name of the value in the help. A kind without one is set by the flag alone. */
  value?: string;
  /** The type that the library takes, such as `string or object`. */
  takes: string;
  convert(given: Given): Inside;
  /** Parses a flag, a variable or a default. `env` has the credentials for a location. */
  parse(text: string, env: Environment): Inside;
}

/** Runs a parser. Its error then begins with the setting's name and ends with the value. */
export function parseNamed<T>(name: string, value: unknown, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const got = error.isSecret ? "" : `, got ${JSON.stringify(value)}`;
    throw new UsageError(`${name} ${error.message}${got}`);
  }
}

function kind<Inside>(value: string, parse: Kind<Inside>["parse"]): Kind<Inside> {
  return { value, takes: "string", parse, convert: (given) => parse(given, {}) };
}

function secret(message: string): UsageError {
  return Object.assign(new UsageError(message), { isSecret: true });
}

export const text = (value: string) => kind(value, (text) => text);

export const boolean: Kind<boolean, boolean> = {
  takes: "boolean",
  convert: (given) => given,
  parse(text) {
    if (/^(?:1|true)$/.test(text)) return true;
    if (/^(?:0|false)$/.test(text)) return false;
    throw new UsageError("must be 1 or 0");
  },
};

/** Accepts only decimal digits without a leading zero. */
export function integer(
  min: number,
  max: number,
  message = `must be a whole number from ${min} to ${max}`,
): Kind<number, number> {
  const parse = (text: string) => {
    const value = Number(text);
    if (/^(?:0|[1-9]\d*)$/.test(text) && value >= min && value <= max) return value;
    throw new UsageError(message);
  };
  return { value: "N", takes: "number", parse, convert: (given) => parse(String(given)) };
}

export const port = integer(0, 65_535);
export const seed = integer(0, 0xffff_ffff);
export const userId = {
  ...integer(1, Number.MAX_SAFE_INTEGER, "must be a list of user ids, such as 1,2,3"),
  value: "IDS",
};

export function oneOf<const Choice extends string>(
  value: string,
  choices: readonly Choice[],
): Kind<Choice, Choice> {
  const parse = (text: string) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    throw new UsageError(`must be one of ${choices.join(", ")}`);
  };
  return { value, takes: "string", parse, convert: parse };
}

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration and returns milliseconds. */
export function parseDuration(text: string): number {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? 0);
  if (Number.isInteger(ms) && ms >= 1 && ms <= 24 * 86_400_000) return ms;
  throw new UsageError("must be a duration from 1ms to 24d, such as 1h, 30m, 2s or 500ms");
}

/** A duration in milliseconds. In text, a number without a unit is in seconds. */
export const time = kind("TIME", (text) => parseDuration(/^\d+$/.test(text) ? `${text}s` : text));

const secondsPerYear = integer(0, 31_536_000);

/** A duration in whole seconds. In text, a number without a unit is in seconds. */
export const maxAge = kind("TIME", (text, env) => {
  const isBare = /^\d+$/.test(text);
  const seconds = isBare ? secondsPerYear.parse(text, env) : parseDuration(text) / 1000;
  if (Number.isInteger(seconds)) return seconds;
  throw new UsageError("must be a duration in whole seconds, such as 5m or 300");
});

export const cidr = kind("CIDR", (text) => {
  try {
    return parseCidr(text);
  } catch {
    throw new UsageError("must be an IP address or a CIDR, such as 10.0.0.0/8 or 2001:db8::/32");
  }
});

/** An absolute URL to which paths can be appended. Drops a trailing slash. */
export const baseUrl = kind("URL", (text) => {
  const url = URL.parse(text);
  const isBase = url && /^https?:$/.test(url.protocol) && !url.search && !url.hash;
  if (isBase) return text.replace(/\/+$/, "");
  throw new UsageError("must be an http or https URL without a query, such as https://example.org");
});

/** An absolute URL that other URLs are resolved against, so a trailing slash matters. */
export const webUrl = kind("URL", (text) => {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text;
  throw new UsageError("must be an http or https URL, such as https://example.org/avatars/");
});

function isWebUrlOrPath(text: string): boolean {
  return /^\/(?![/\\])/.test(text) || /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

export interface Link {
  text: string;
  url: string;
}

/** A link with its text. */
export const link = kind("TEXT=URL", (given): Link => {
  const [, text = "", url = ""] = /^([^=]+)=(.+)$/s.exec(given) ?? [];
  if (text.trim() !== "" && isWebUrlOrPath(url)) return { text: text.trim(), url };
  throw new UsageError(
    'must be a text and a URL or path, such as "Imprint=https://example.org/imprint"',
  );
});

/** The URL or path of a page about one thing, with `{id}` in place of its id. */
export const pageLink = kind("URL", (text) => {
  if (text.includes("{id}") && isWebUrlOrPath(text)) return text;
  throw new UsageError("must be a URL or path with {id}, such as https://example.org/users/{id}");
});

/** The path where a server is mounted. Drops a trailing slash, so the root becomes empty. */
export const basePath = kind("PATH", (text) => {
  const path = text.replace(/\/+$/, "");
  if (/^(?:\/[\w.~-]*[\w~-])*$/.test(path)) return path;
  throw new UsageError("must be a path such as /rb");
});

const MAX_TITLE_LENGTH = 60;

/** A title that is shown on one line. */
export const title = kind("NAME", (text) => {
  const title = text.trim();
  const isVisible = title !== "" && !/\p{Cc}/u.test(title);
  if (isVisible && [...title].length <= MAX_TITLE_LENGTH) return title;
  throw new UsageError(`must be a name of 1 to ${MAX_TITLE_LENGTH} characters`);
});

/** A colour as `#rrggbb`. Text may omit the `#`, which starts a comment in shells. */
export const colour = kind("COLOUR", (text) => {
  const [, digits] = /^#?([0-9a-f]{6})$/i.exec(text) ?? [];
  if (digits !== undefined) return `#${digits.toLowerCase()}`;
  throw new UsageError("must be a colour such as #0a7d4f");
});

/** A file to read, which the library also takes as bytes. */
export const pathOrBytes: Kind<string | Uint8Array, string | Uint8Array> = {
  value: "FILE",
  takes: "string or object",
  parse: (path) => path,
  convert: (given) => given,
};

const isUrl = (text: string) => /^[a-z][a-z\d+.-]*:\/\//i.test(text);

/** The path of a file to write. */
export const target = kind("FILE", (text) => {
  if (!isUrl(text)) return text;
  const hint = "write a file and copy it there, for example with aws s3 cp";
  throw secret(`must be a file; ${hint}`);
});

/** The URL of a Redis or Valkey server, which may contain a password. */
export const storeUrl = kind("URL", (text) => {
  requireBun();
  const isStore = /^(?:rediss?|valkey):\/\/[^/?#]+(?:\/\d{0,4})?$/.test(text) && URL.canParse(text);
  if (isStore) return text;
  throw secret("must be a redis://, rediss:// or valkey:// URL");
});

/** The path of a snapshot, or its location on another machine, which may contain a password. */
export const snapshotLocation = kind("FILE", (text, env): string | RemoteLocation => {
  if (!isUrl(text)) return text;
  const isObject = /^s3:/i.test(text);
  if (isObject) checkS3Variables(env);
  const location = isObject ? parseS3Location(text, env) : parseWebLocation(text);
  if (location) return location;
  const wanted = "must be a file or an https://, http:// or s3:// URL";
  throw secret(isObject ? "must have the form s3://bucket/key" : wanted);
});

function checkS3Variables(env: Environment): void {
  requireBun("with s3:// ");
  if (!env.AWS_ACCESS_KEY_ID || !env.AWS_SECRET_ACCESS_KEY) {
    throw secret("with s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  }
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    throw secret("with s3:// needs an http or https URL in AWS_ENDPOINT_URL");
  }
}

/** Throws a {@link UsageError} under Node.js, where the npm package runs but lacks a setting. */
export function requireBun(use = ""): void {
  if (process.versions.bun) return;
  throw secret(`${use}does not work on Node.js; use the executable or Bun`);
}
