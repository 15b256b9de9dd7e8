/** The options of the library: most flags of `serve`, and those that only a program can set. */
import type { DatasetLine, EndLine, IdsLine } from "../domain/dataset.ts";
import { suggest } from "../domain/invalid-value.ts";
import { paragraph } from "../domain/text.ts";
import type { ResponseFacts } from "../http/app-options.ts";
import type { LineSource } from "../import/line-reader.ts";
import { type SharedValues, sharedSettings } from "./serve-flags.ts";
import { defaultOf, type GivenOf, parseNamed, type Setting, type Values } from "./setting.ts";
import * as types from "./value-types.ts";

/**
 * The path or bytes of a dataset file (NDJSON, plain or gzip), the path of a snapshot, a CSV file of
 * users or a folder of CSV files, or lines as objects. For `importDataset` on Bun, also the URL of a
 * database.
 */
export type Dataset = LineSource<DatasetLine | IdsLine | EndLine>;

const dataset = types.valueType<Dataset, Dataset>("", (path) => path, {
  takes: ["string", "bytes", "object"],
});

/** Declares a function of the program. There is no text of one. */
function hook<Given>(help: string) {
  const none = () => undefined;
  return { type: types.valueType<Given, Given>("", none, { takes: ["function"] }), help };
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

type Option = Pick<Setting, "type" | "list">;

type Options<T> = { [Name in keyof T]?: GivenOf<T[Name]> | undefined };

/**
 * The options of the library. Most have the same meaning and default as the flag of `serve`, except
 * that there is a web page only if `page` is true. For `--link`, give the list `links`, and so on.
 */
export interface RoadbookOptions
  extends Options<typeof sharedSettings>,
    Options<typeof libraryOptions> {}

type Optional<T> = { [Name in keyof T]?: T[Name] | undefined };

/** The parsed values of the options. Those that only the library has are undefined if left out. */
export interface RoadbookValues extends SharedValues, Optional<Values<typeof libraryOptions>> {}

/** Throws a `TypeError` or a `RangeError` that names the wrong option. */
export function readOptions(options: RoadbookOptions): RoadbookValues {
  const known: Record<string, Option> = { ...sharedSettings, ...libraryOptions };
  const given: Record<string, unknown> = { ...options };
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    throw new TypeError(`unknown option ${name}${suggest(name, Object.keys(known))}`);
  }

  const defaults: Record<string, Setting> = sharedSettings;
  const values = Object.entries(known).map(([name, option]) => {
    if (given[name] !== undefined) return [name, readOption(name, option, given[name])];
    const setting = defaults[name];
    return [name, setting && defaultOf(setting)];
  });
  // Each was converted by its own type, which is also that of the value.
  return Object.fromEntries(values);
}

/** Only texts, numbers and booleans are parsed. */
export function readOption(name: string, { type, list }: Option, given: unknown): unknown {
  const { takes = ["string"] } = type;
  const read = (value: unknown) => {
    const got = typeNameOf(value);
    if (!takes.includes(got)) {
      throw new TypeError(`${name} must be of type ${takes.join(" or ")}, got ${got}`);
    }
    const isGiven = typeof value === "object" || typeof value === "function";
    return isGiven ? value : parseNamed(name, type, value);
  };
  if (!list) return read(given);
  if (Array.isArray(given)) return given.map(read);
  throw new TypeError(`${name} must be of type array, got ${typeof given}`);
}

function typeNameOf(value: unknown): string {
  if (value === null) return "null";
  return value instanceof Uint8Array ? "bytes" : typeof value;
}
