/** The options of the library: most flags of `serve`, and those that only a program can set. */
import type { DatasetLine, EndLine, IdsLine } from "../domain/dataset.ts";
import { suggest } from "../domain/invalid-value.ts";
import { paragraph } from "../domain/text.ts";
import type { ResponseFacts } from "../http/app-options.ts";
import type { LineSource } from "../import/line-reader.ts";
import { type SharedValues, sharedSettings } from "./serve-flags.ts";
import { defaultOf, type ListOf, parseNamed, type Setting, type Values } from "./setting.ts";
import * as types from "./value-types.ts";

/**
 * The path or bytes of a dataset file (NDJSON, plain or gzip), the path of a snapshot, a CSV file of
 * users or a folder of CSV files, or lines as objects. For `importDataset` on Bun, also the URL of a
 * database.
 */
export type Dataset = LineSource<DatasetLine | IdsLine | EndLine>;

const dataset = types.valueType<Dataset, Dataset>("", (path) => path, {
  takes: ["string", "bytes", "iterable"],
});

/** Declares a function of the program. There is no text of one. */
function hook<Hook>(help: string) {
  const none = () => undefined;
  return { type: types.valueType<Hook, Hook>("", none, { takes: ["function"] }), help };
}

export const libraryOptions = {
  snapshot: { type: types.pathOrBytes, help: "the path or bytes of a snapshot" },
  dataset: {
    type: dataset,
    help: paragraph(
      "the path or bytes of a dataset (NDJSON, plain or gzip), a CSV file of users, a folder of CSV",
      "files, or lines as objects",
    ),
  },
  page: {
    type: types.boolean,
    help: "serves the web page at /, /drivers/{id} and /companies/{id}",
  },
  demo: { type: types.boolean, help: "serves the demo community that comes with Roadbook" },
  basePath: {
    type: types.basePath,
    help: paragraph(
      "the path where another program mounts Roadbook, such as /rb; links to its paths start with",
      "it, but requests may omit it (default: the path of publicUrl)",
    ),
  },
  clock: hook<() => number>("the search limit's clock in milliseconds, for tests"),
  defaultPeer: {
    type: types.text("ADDRESS"),
    help: "the client address for requests without one (default: their searches are not counted)",
  },
  compress: {
    type: types.boolean,
    default: "true",
    help: "set it to false if the host program compresses responses",
  },
  onBug: hook<(error: unknown, requestId: string) => void>(
    paragraph(
      "called with every error that causes a 500, and with every error that onResponse throws",
      "(default: console.error)",
    ),
  ),
  onResponse: hook<(facts: ResponseFacts) => void>("called for every response"),
};

type Option = Pick<Setting, "type" | "list" | "default">;

type Options<T extends Record<string, Option>> = {
  [Name in keyof T]?: ListOf<T[Name], NonNullable<T[Name]["type"]["option"]>> | undefined;
};

/**
 * The options of the library. Most have the same meaning and default as the flag of `serve`, except
 * that there is a web page only if `page` is true. For `--link`, give the list `links`, and so on.
 */
export interface RoadbookOptions
  extends Options<typeof sharedSettings>,
    Options<typeof libraryOptions> {}

/** The parsed values of the options. */
export interface RoadbookValues extends SharedValues, Values<typeof libraryOptions> {}

/** Throws a `TypeError` or a `RangeError` that names the wrong option. */
export function readOptions(options: RoadbookOptions): RoadbookValues {
  const known: Record<string, Option> = { ...sharedSettings, ...libraryOptions };
  const inputs: Record<string, unknown> = { ...options };
  for (const name of Object.keys(inputs)) {
    if (Object.hasOwn(known, name)) continue;
    throw new TypeError(`unknown option ${name}${suggest(name, Object.keys(known))}`);
  }

  const values = Object.entries(known).map(([name, option]) => {
    const input = inputs[name];
    return [name, input === undefined ? defaultOf(option) : readOption(name, option, input)];
  });
  // Each was read by the type of its option.
  return Object.fromEntries(values) as RoadbookValues;
}

/** Only texts, numbers and booleans are parsed. */
export function readOption(name: string, { type, list }: Option, input: unknown): unknown {
  const { takes = ["string"] } = type;
  const read = (value: unknown) => {
    const got = typeNameOf(value);
    if (!takes.includes(got)) {
      throw new TypeError(`${name} must be of type ${takes.join(" or ")}, got ${got}`);
    }
    const isText = typeof value !== "object" && typeof value !== "function";
    return isText ? parseNamed(name, type, value) : value;
  };
  if (!list) return read(input);
  if (Array.isArray(input)) return input.map(read);
  throw new TypeError(`${name} must be of type array, got ${typeof input}`);
}

function typeNameOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  if (value instanceof Uint8Array) return "bytes";
  return Symbol.iterator in value || Symbol.asyncIterator in value ? "iterable" : "object";
}
