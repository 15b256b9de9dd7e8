/** The options of the library: most flags of `serve`, and those that only a program can set. */
import type { DatasetLine, EndLine, IdsLine } from "../domain/dataset.ts";
import { suggest } from "../domain/invalid-value.ts";
import { paragraph } from "../domain/text.ts";
import type { ResponseFacts } from "../http/app-options.ts";
import type { LineSource } from "../import/line-reader.ts";
import * as kinds from "./kinds.ts";
import { sharedSettings } from "./serve-flags.ts";
import { defaultOf, type GivenOf, parseNamed, type Setting, type Values } from "./setting.ts";

/** Declares a library-only option whose value is used as given. */
function option<Given>(takes: kinds.Taken, help: string) {
  return { kind: { takes, convert: (given: Given) => given }, help };
}

export const libraryOptions = {
  snapshot: option<string | Uint8Array>(["string", "bytes"], "the path or bytes of a snapshot"),
  dataset: option<LineSource<DatasetLine | IdsLine | EndLine>>(
    ["string", "bytes", "array", "iterable"],
    paragraph(
      "the path or bytes of a dataset (NDJSON, plain or gzip), a CSV file of users, a folder of CSV",
      "files, or lines as objects",
    ),
  ),
  page: option<boolean>(["boolean"], "serves the web page at /, /drivers/{id} and /companies/{id}"),
  demo: option<boolean>(["boolean"], "serves the demo community that comes with Roadbook"),
  basePath: {
    kind: kinds.basePath,
    help: paragraph(
      "the path where another program mounts Roadbook, such as /rb; links to its paths start with",
      "it, but requests may omit it (default: the path of publicUrl)",
    ),
  },
  clock: option<() => number>(["function"], "the search limit's clock in milliseconds, for tests"),
  defaultPeer: {
    kind: kinds.text("ADDRESS"),
    help: "the client address for requests without one (default: their searches are not counted)",
  },
  compress: option<boolean>(
    ["boolean"],
    "set it to false if the host program compresses responses",
  ),
  onBug: option<(error: unknown, requestId: string) => void>(
    ["function"],
    paragraph(
      "called with every error that causes a 500, and with every error that onResponse throws",
      "(default: console.error)",
    ),
  ),
  onResponse: option<(facts: ResponseFacts) => void>(["function"], "called for every response"),
};

/** The common part of an option and a setting. `convert` gets only what `takes` names. */
interface Option {
  kind: Pick<kinds.TextKind<unknown>, "takes" | "isSecret"> & { convert(given: never): unknown };
  list?: string;
}

type Options<T> = { [Name in keyof T]?: GivenOf<T[Name]> | undefined };

/**
 * The options of the library. Most have the same meaning and default as the flag of `serve`, except
 * that there is a web page only if `page` is true. For `--link`, give the list `links`, and so on.
 */
export interface RoadbookOptions
  extends Options<typeof sharedSettings>,
    Options<typeof libraryOptions> {}

/** The parsed values of the options. Those that only the library has are undefined if left out. */
export interface RoadbookValues
  extends Values<typeof sharedSettings>,
    Partial<Values<typeof libraryOptions>> {}

/** Throws a `TypeError` or a `RangeError` that names the wrong option. */
export function readOptions(options: RoadbookOptions): RoadbookValues {
  const known: Record<string, Option> = { ...sharedSettings, ...libraryOptions };
  const given: Record<string, unknown> = { ...options };
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    throw new TypeError(`unknown option ${name}${suggest(name, Object.keys(known))}`);
  }

  const defaults: Record<string, Setting> = sharedSettings;
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(known)) {
    const setting = defaults[name];
    if (given[name] !== undefined) values[name] = readOption(name, option, given[name]);
    else values[name] = setting && defaultOf(setting);
  }
  // Each was converted by its own kind, which also gives the type of the value.
  return values as unknown as RoadbookValues;
}

export function readOption(name: string, { kind, list }: Option, given: unknown): unknown {
  const convert = (value: unknown) => {
    requireType(name, kind.takes, value);
    return parseNamed(name, kind, value, () => kind.convert(value as never));
  };
  if (!list) return convert(given);

  requireType(name, ["array"], given);
  return Array.from(given as unknown[], convert);
}

function requireType(name: string, takes: kinds.Taken, given: unknown): void {
  const got = kinds.typeNameOf(given);
  if (takes.includes(got)) return;
  throw new TypeError(`${name} must be of type ${takes.join(" or ")}, got ${got}`);
}
