/** The types of values: how each is read from text, and what the library takes instead. */

import { InvalidValue } from "../domain/invalid-value.ts";
import { MAX_DURATION_DAYS, parseDurationOrSeconds } from "../domain/time.ts";
import { isUrl, STANDARD } from "../files/input-kind.ts";
import { parseWebUrl } from "../snapshot/remote/location.ts";

export type Environment = Record<string, string | undefined>;

/** A type of values: `Value` is what the code uses, and `Option` what the library takes instead. */
export interface ValueType<Value, Option = string> {
  /** The name of the value in the help. Empty for a switch. */
  value: string;
  /** Whether the flag takes no value: it sets true, and without it, the setting is false. */
  isSwitch?: true;
  /** The types that the library takes, by `typeof`, bytes or iterable. By default, it takes only strings. */
  takes?: readonly string[];
  /** Always undefined: keeps only the type, which `takes` names. */
  option?: Option;
  /** Whether the value may contain a password, so that no message may repeat it. */
  isSecret?: boolean;
  /** All possible values, if they are few. */
  choices?: readonly string[];
  /**
   * Reads the text of a flag, a variable, a default or an option, also that of an option's number or
   * boolean. `env` has the credentials for a location.
   */
  parse(text: string, env?: Environment): Value;
}

interface Traits extends Partial<Pick<ValueType<unknown>, "takes" | "isSecret" | "choices">> {
  /** Completes "must be …", the error if `parse` returns undefined. */
  wanted?: string;
}

/** `parse` returns undefined for an invalid value, or throws an {@link InvalidValue}. */
export function valueType<Value, Option = string>(
  value: string,
  parse: (text: string, env: Environment) => Value | undefined,
  { wanted, ...traits }: Traits = {},
): ValueType<Value, Option> {
  return {
    value,
    ...traits,
    parse(text, env = {}) {
      const parsed = parse(text, env);
      if (parsed === undefined) throw new InvalidValue(`must be ${wanted}`);
      return parsed;
    },
  };
}

export const text = (value: string) => valueType(value, (text) => text);

export const boolean = {
  ...valueType<boolean, boolean>("", parseBoolean, {
    wanted: "1 or 0, true or false, yes or no, on or off",
    takes: ["boolean"],
  }),
  isSwitch: true as const,
};

/** Returns undefined for any other text. */
export function parseBoolean(text: string): boolean | undefined {
  if (/^(?:1|true|yes|on)$/i.test(text)) return true;
  return /^(?:0|false|no|off)$/i.test(text) ? false : undefined;
}

export function integer(min: number, max: number): ValueType<number, number> {
  const parse = (text: string) => {
    const number = /^(?:0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  };
  return valueType("N", parse, {
    wanted: `a whole number from ${min} to ${max}`,
    takes: ["number"],
  });
}

export const port = integer(0, 65_535);
export const seed = integer(0, 0xffff_ffff);
export const id = integer(1, Number.MAX_SAFE_INTEGER);

/** The id of a user, or everybody. */
export const featured = valueType<number | "all", number | "all">(
  "IDS|all",
  (text) => (text === "all" ? text : id.parse(text)),
  { takes: ["number", "string"] },
);

export function oneOf<const Choice extends string>(
  value: string,
  choices: readonly Choice[],
): ValueType<Choice, Choice> {
  const parse = (text: string) => choices.find((choice) => choice === text);
  return valueType(value, parse, { wanted: `one of ${choices.join(", ")}`, choices });
}

/** A duration in milliseconds. */
export const time = valueType("TIME", parseDurationOrSeconds, {
  wanted: `a duration from 1ms to ${MAX_DURATION_DAYS}d, such as 1h, 30m or 500ms`,
});

/** A duration in milliseconds, which may be 0. */
export const timeOrZero = valueType(
  "TIME",
  (text) => (text === "0" ? 0 : parseDurationOrSeconds(text)),
  { wanted: `0 or a duration up to ${MAX_DURATION_DAYS}d, such as 5m` },
);

/** A duration in milliseconds that Bun's timer for idle connections can have. */
export const idleTime = valueType(
  "TIME",
  (text) => {
    const ms = parseDurationOrSeconds(text);
    return ms !== undefined && ms >= 1000 && ms <= 255_000 ? ms : undefined;
  },
  { wanted: "a duration from 1s to 255s, such as 75s" },
);

/** For a URL that everybody can read. */
function parsePublicUrl(text: string): URL | undefined {
  const url = parseWebUrl(text);
  return url?.username || url?.password ? undefined : url;
}

const isLink = (text: string) => Boolean(parseWebUrl(text)) || /^\/(?![/\\])/.test(text);

const hasQuery = (text: string) => /[?#]/.test(text);

/** Returns the URL as it was parsed, which has no white space around it. */
function baseOf(url: URL | undefined, text: string): string | undefined {
  if (!url || hasQuery(text)) return undefined;
  // In links, a path that begins with two slashes would be a host. In the API reference, an
  // apostrophe would end an attribute.
  url.pathname = url.pathname.replace(/^\/+/, "/").replaceAll("'", "%27");
  return url.href.replace(/\/+$/, "");
}

/** An absolute URL to which paths can be appended. Drops a trailing slash. May have a password. */
export const baseUrl = valueType("URL", (text) => baseOf(parseWebUrl(text), text), {
  wanted: "an http or https URL without a query, such as https://example.org",
  isSecret: true,
});

/** Like {@link baseUrl}, but the responses contain it. */
export const publicBaseUrl = valueType("URL", (text) => baseOf(parsePublicUrl(text), text), {
  wanted:
    "an http or https URL without a query, user name or password, such as https://example.org",
  isSecret: true,
});

/** An absolute URL that other URLs are resolved against, so a trailing slash matters. */
export const resolutionBase = valueType(
  "URL",
  (text) => (hasQuery(text) ? undefined : parsePublicUrl(text)?.href),
  {
    wanted:
      "an http or https URL without a query, user name or password, such as https://example.org/",
    isSecret: true,
  },
);

/** The URL or path of a page about one thing, with `{id}` in place of its id. */
export const pageLink = valueType(
  "URL",
  (text) => {
    // As the host, a small id is an IPv4 address, but the largest one is an error.
    const example = text.replaceAll("{id}", String(Number.MAX_SAFE_INTEGER));
    return example !== text && isLink(example) ? text : undefined;
  },
  { wanted: "a URL or path with {id}, such as /users/{id}" },
);

export const link = valueType(
  "TEXT=URL",
  (pair) => {
    const [, text = "", url = ""] = /^\s*([^=]*[^=\s])\s*=(.+)$/s.exec(pair) ?? [];
    return isLink(url) ? { text, url } : undefined;
  },
  { wanted: "a label and a URL or path, like Imprint=/imprint" },
);

/** The path where a server is mounted. Drops a trailing slash, so the root becomes empty. */
export const basePath = valueType(
  "PATH",
  (text) => {
    const path = text.replace(/\/+$/, "");
    return /^(?:\/[\w.~-]*[\w~-])*$/.test(path) ? path : undefined;
  },
  { wanted: "a path such as /rb" },
);

/** A colour as `#rrggbb`. Text may omit the `#`, which starts a comment in shells. */
export const colour = valueType(
  "COLOUR",
  (text) => {
    const [, digits] = /^#?([0-9a-f]{6})$/i.exec(text) ?? [];
    return digits && `#${digits.toLowerCase()}`;
  },
  { wanted: "a colour such as #0a7d4f" },
);

/** A file to read, which the library also takes as bytes. */
export const pathOrBytes = valueType<string | Uint8Array, string | Uint8Array>(
  "FILE",
  (path) => path,
  { takes: ["string", "bytes"] },
);

/** The path of a snapshot to write. A URL may contain a password. */
export const target = valueType(
  "FILE",
  (text) => (isUrl(text) || text === STANDARD ? undefined : requireUtf8(text)),
  {
    wanted:
      "a file, not a URL or standard output; write a file and upload it, for example with aws s3 cp",
    isSecret: true,
  },
);

/** The path of a dataset to write, or {@link STANDARD} for standard output. */
export const output = valueType("OUT", (text) => (isUrl(text) ? undefined : requireUtf8(text)), {
  wanted: "a file, not a URL; write a file and upload it, for example with aws s3 cp",
  isSecret: true,
});

/** JavaScript replaces other bytes in a path, so the file would be written under another name. */
function requireUtf8(path: string): string {
  if (!path.includes("\ufffd")) return path;
  throw new InvalidValue("must be UTF-8; choose another name for the file");
}

/** The URL of a Redis or Valkey server, which may contain a password. */
export const storeUrl = valueType(
  "URL",
  (text) => {
    requireBun();
    const isStore = /^(?:rediss?|valkey):\/\/[^/?#]+(?:\/\d{0,4})?$/.test(text);
    return isStore && URL.canParse(text) ? text : undefined;
  },
  { wanted: "a redis://, rediss:// or valkey:// URL", isSecret: true },
);

/** Throws an {@link InvalidValue} under Node.js, where the package cannot support some settings. */
export function requireBun(use = ""): void {
  if (process.versions.bun) return;
  throw new InvalidValue(`${use}does not work on Node.js; use the executable or Bun`);
}
