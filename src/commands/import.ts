/** `roadbook import`: builds a snapshot. */
import { UsageError } from "../domain/invalid-value.ts";
import { groupDigits, paragraph, plural } from "../domain/text.ts";
import { formatDuration } from "../domain/time.ts";
import { importDataset, type WriteReport } from "../import/import.ts";
import { findSource, type Source } from "../import/source.ts";
import { MAX_HOLD_MS } from "../import/takedowns.ts";
import { declare, parseNamed, type Values } from "../settings/setting.ts";
import * as types from "../settings/value-types.ts";
import { quoteRules } from "../tables/csv-records.ts";
import { DATABASE_TIMEOUT_MS } from "../tables/database-source.ts";
import { dateOrders } from "../tables/times.ts";
import { command } from "./command.ts";
import { describeWritten, listDetails, toOutcome } from "./report.ts";
import type { Progress } from "./terminal.ts";
import { readingFlags, startWriting, writingFlags } from "./writing.ts";

const settings = declare("Flags", {
  source: {
    name: "SOURCE",
    type: types.text("SOURCE"),
    variable: "ROADBOOK_DATABASE",
    required: true,
    help: "NDJSON file, - for standard input, CSV file of users, folder of CSV files, snapshot, or database URL",
  },
  to: { type: types.target, required: true, waivedBy: "dryRun", help: "the snapshot to write" },
  queries: { type: types.text("FOLDER"), help: "folder of SELECTs for the database SOURCE" },
  timeoutMs: {
    name: "--timeout",
    type: types.time,
    default: formatDuration(DATABASE_TIMEOUT_MS),
    help: "how long a database server may take",
  },
  dates: {
    type: types.oneOf("dmy|mdy", dateOrders),
    help: "read 5/6/2021 in CSV files as 5 June or as May 6 (default: other dates show it)",
  },
  key: {
    type: types.text("COLUMN"),
    help: "the column of a CSV file of users that is the id, if none is called so; needs --id-map",
  },
  quotes: {
    type: types.oneOf("csv|none", quoteRules),
    help: "in CSV files, quotes surround fields, or are characters (default: the rows show it)",
  },
  decodeHtml: { type: types.boolean, help: "decode HTML entities in names and descriptions" },
  avatarBase: {
    type: types.resolutionBase,
    help: "base URL for avatars that are not http(s) URLs",
  },
  dryRun: { type: types.boolean, help: "check the dataset and write nothing; needs no --to" },
  force: { type: types.boolean, help: "overwrite any regular file, and accept other ids" },
  skipInvalid: { type: types.boolean, help: "skip most of what is invalid, and report it" },
  allowReveal: {
    type: types.boolean,
    help: "allow most private users to become public or absent",
  },
  allowRenames: { type: types.boolean, help: "allow most users to have other names" },
  holdMs: {
    name: "--hold",
    type: types.timeOrZero,
    default: formatDuration(MAX_HOLD_MS),
    help: paragraph(
      "how long a user whom apply or hide made private or deleted stays so, whatever SOURCE",
      `says; at most ${formatDuration(MAX_HOLD_MS)}, 0 for not at all`,
    ),
  },
  ...readingFlags,
  ...writingFlags,
});

export const importCommand = command({
  settings,
  notes: [
    paragraph(
      "The URL of a database begins with postgres://, mysql:// or mariadb://, or is sqlite:FILE.",
      "If it is in ROADBOOK_DATABASE instead of SOURCE, other users cannot see its password in",
      "ps.",
    ),
  ],
  examples: [
    "import members.csv --to community.snapshot",
    "import dataset.ndjson --expect-end --to community.snapshot",
    "import sqlite:platform.db --queries my-queries --dry-run",
  ],
  async run({ source: location, to, ...options }) {
    const parse = (text: string) => findSource(text, options.queries);
    const { kind } = parseNamed("SOURCE", { parse, isSecret: true }, location);
    refuseFlags(kind, options);

    using writing = startWriting("dataset", to, options);
    const { progress, hooks } = writing;
    const importing = importDataset(location, to, {
      ...options,
      ...showImport(progress),
      ...hooks,
    });
    const imported = await importing.catch(writing.rethrow);
    const { skipped } = imported;
    if (skipped.count > 0 && !options.json) progress.print(skipped.format());

    const lines = [describeImport(imported, to, options.dryRun), ...listDetails(imported)];
    await writing.reportAndConfirm(lines, { dry_run: options.dryRun, ...toOutcome(imported) });
  },
});

/** Throws if flags exclude each other or do not fit the source. */
function refuseFlags(
  sourceKind: Source["kind"],
  {
    expectEnd,
    dates,
    quotes,
    key,
    idMap,
    dryRun,
    holdMs,
    confirm,
  }: Omit<Values<typeof settings>, "source" | "to">,
): void {
  if (expectEnd && sourceKind !== "lines") {
    throw new UsageError("--expect-end works only with NDJSON");
  }
  if (sourceKind !== "csv") {
    if (dates) throw new UsageError("--dates works only with CSV files");
    if (quotes) throw new UsageError("--quotes works only with CSV files");
    if (key) throw new UsageError("--key works only with CSV files; in a query, write AS id");
  }
  if (key && !idMap) throw new UsageError("--key also needs --id-map FILE, which keeps the ids");
  if (confirm && dryRun) throw new UsageError("a --dry-run cannot be confirmed");
  if (holdMs > MAX_HOLD_MS) {
    throw new UsageError(`--hold must be at most ${formatDuration(MAX_HOLD_MS)}`);
  }
}

function showImport(progress: Progress) {
  return {
    onBytes: (bytes: number) => progress.show(`reading: ${Math.floor(bytes / 1e6)} MB`),
    onRead(file: string, rows: number) {
      progress.show(`reading ${file}: ${groupDigits(rows)} rows`);
    },
    onSlow(file: string) {
      const advice = "run ANALYZE on its tables";
      progress.print(`roadbook: a page of ${file} took over half a second; ${advice}`);
    },
    onIndexed: (share: number) => progress.show(`indexing: ${Math.floor(100 * share)} %`),
  };
}

function describeImport(imported: WriteReport, to: string | undefined, isDry: boolean): string {
  const done = isDry ? "dry run (nothing was written): would import" : "imported";
  const written = `${done} ${describeWritten(imported, to === undefined ? "" : ` to ${to}`)}`;
  const { skipped, madePrivate } = imported;
  if (skipped.count === 0) return written;

  const left = `${written}, skipped ${plural(skipped.count, "error")}`;
  return madePrivate > 0 ? `${left}, made ${plural(madePrivate, "user")} private` : left;
}
