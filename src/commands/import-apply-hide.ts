/** The commands that write snapshots: `import`, `apply` and `hide`. */
import { printable } from "../domain/validation-errors.ts";
import { openInput } from "../files/input.ts";
import type { ReplaceOptions } from "../files/replace.ts";
import { id, parseNamed, UsageError } from "../settings/kinds.ts";
import { type ApplyOptions, applyChanges, hideUsers } from "../snapshot/import/apply.ts";
import { type ImportOptions, importDataset } from "../snapshot/import/import.ts";
import { LocatedSource } from "../snapshot/import/open-source.ts";
import { DatasetError, formatErrors, groupErrors } from "../snapshot/import/record-errors.ts";
import type { Counted } from "../snapshot/import/report.ts";
import { MAX_HOLD_MS } from "../snapshot/import/takedowns.ts";
import { confirmServed } from "./health.ts";
import {
  describeCounts,
  endOnSignal,
  Progress,
  plural,
  suggestNext,
  toLine,
  writeSummary,
} from "./output.ts";

/** `confirm` is the URL of a server that must serve the new snapshot. */
interface Reporting {
  json: boolean;
  confirm: string | undefined;
  waitMs: number;
}

type Importing = ImportOptions & Reporting & { source: string; to: string | undefined };
type Applying = ApplyOptions & Reporting & { to: string };

const NEEDLESS_MAP =
  "the ids of all users are integers: with --id-map they get other numbers, so {id} in --driver-link is not theirs; to keep them, leave --id-map out, and give roles, companies and achievements numbers in the queries\n";

/** `source` is a file, a folder of CSV files, `-` for standard input, or a database's URL. */
export async function runImport({ source, to = "", ...options }: Importing) {
  const located = await locate(source, options.queries);
  const { kind } = located;
  if (options.expectEnd && (kind === "database" || kind === "folder")) {
    throw new UsageError("--expect-end works only with NDJSON");
  }
  if (options.dates && kind !== "folder") {
    throw new UsageError("--dates works only with CSV files");
  }
  if (options.confirm && options.dryRun) throw new UsageError("a --dry-run cannot be confirmed");
  if ((options.holdMs ?? 0) > MAX_HOLD_MS) throw new UsageError("--hold must be at most 1h");

  const imported = await write("dataset", (hooks, progress) =>
    importDataset(kind === "lines" ? readWithProgress(source, progress) : located, to, {
      ...options,
      onRead: (file, rows) => progress.show(`reading ${file}: ${rows.toLocaleString("en")} rows`),
      onSlow: (file) =>
        progress.warn(`a page of ${file} took over half a second; run ANALYZE on its tables`),
      onIndexed: (share) => progress.show(`indexing: ${Math.floor(100 * share)} %`),
      ...hooks,
    }),
  );

  const { skipped } = imported;
  if (skipped.count > 0 && !options.json) process.stderr.write(`${formatErrors(skipped)}\n`);
  const done = options.dryRun ? "dry run (nothing was written): would import" : "imported";
  const hidden = skipped.hidden > 0 ? `, made ${plural(skipped.hidden, "user")} private` : "";
  const left = skipped.count > 0 ? `, skipped ${plural(skipped.count, "error")}${hidden}` : "";
  const summary = `${done} ${describeWritten(imported, to && ` to ${to}`)}${left}`;
  const more = { dry_run: options.dryRun === true };

  // Beside an older snapshot that was made with the map, it can no longer be left out.
  const isNeedless = imported.hasNeedlessMap && imported.differences === undefined;
  const details = withDetails(summary, imported) + (isNeedless ? NEEDLESS_MAP : "");
  await finish(to, options, imported, details, { ...more, needless_id_map: isNeedless });
  if (!options.dryRun && !options.json) suggestNext(["--snapshot", to]);
}

export async function runApply({ changes, to, ...options }: Applying & { changes: string }) {
  const applied = await write("changes", (hooks) =>
    applyChanges(openInput(changes), to, { ...options, ...hooks }),
  );

  const summary = `applied ${changes}: ${to} now has ${describeWritten(applied)}`;
  await finish(to, options, applied, withDetails(summary, applied));
}

export async function runHide({ ids, to, ...options }: Applying & { ids: string[] }) {
  const parse = (text: string) => parseNamed("ID…", id, text, () => id.parse(text));
  const given = options.idMap === undefined ? ids.map(parse) : ids;
  const hidden = await write("changes", (hooks) => hideUsers(given, to, { ...options, ...hooks }));

  const lines = hidden.found.map(({ id, wasPublic }) => {
    return `${to}: user ${id} ${wasPublic ? "is now private" : "was private already"}\n`;
  });

  const idsOf = (wasPublic: boolean) =>
    hidden.found.filter((user) => user.wasPublic === wasPublic).map(({ id }) => id);
  const more = { made_private: idsOf(true), already_private: idsOf(false) };
  await finish(to, options, hidden, lines.join(""), more);
}

/** Finds out what SOURCE is. Without `queries`, it is no database. */
async function locate(source: string, queries: string | undefined): Promise<LocatedSource> {
  try {
    return await LocatedSource.find(source, queries);
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(`SOURCE ${error.message}`) : error;
  }
}

/** Turns a `DatasetError` into an error that counts and lists the problems in `input`. */
async function write<T>(
  input: string,
  run: (hooks: ReplaceOptions, progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = new Progress();
  const onWait = () => progress.show("waiting for another command to finish writing");
  try {
    return await endOnSignal((onCommit) => run({ onCommit, onWait }, progress));
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    const count = plural(error.count, "error");
    throw new Error(`${count} in the ${input}; nothing was written\n${error.message}`);
  } finally {
    progress.end();
  }
}

async function* readWithProgress(path: string, progress: Progress): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const chunk of openInput(path)) {
    read += chunk.length;
    progress.show(`reading: ${Math.floor(read / 1e6)} MB`);
    yield chunk;
  }
}

/** Says what was done, and waits for the server. With --json, a failure to wait is all it says. */
async function finish(
  to: string,
  { json, confirm, waitMs }: Reporting,
  counted: Counted,
  summary: string,
  more: object = {},
): Promise<void> {
  if (!json) writeSummary(summary);
  if (confirm) await confirmServed(to, confirm, waitMs);
  if (!json) return;

  const { sha256 = null, counts, differences = null, held, skipped } = counted;
  const { cleaned, names, times } = counted;
  const { count, hidden: users_made_private } = skipped;
  const outcome = {
    snapshot: to || null,
    sha256,
    ...more,
    counts,
    differences,
    held,
    not_found: counted.notFound,
    names: { cleaned, ...names },
    times: { odd: times },
    unknown_columns: counted.unknownColumns,
    skipped: { count, users_made_private, groups: groupErrors(skipped) },
    seconds: Number((performance.now() / 1000).toFixed(3)),
  };
  writeSummary(toLine(outcome));
}

function describeWritten({ counts, cleaned }: Counted, where = ""): string {
  const names = `removed control characters or extra white space in ${plural(cleaned, "name")}`;
  return `${describeCounts(counts)}${where}${cleaned > 0 ? `, ${names}` : ""}`;
}

/** Adds lines for the differences from the old snapshot, and for what looks wrong. */
function withDetails(summary: string, counted: Counted): string {
  const { differences, held, notFound, unknownColumns, names, times } = counted;
  const lines = [summary];
  for (const [what, numbers] of Object.entries(differences ?? {})) {
    const isUsual = what === "users" || what === "unlocked_achievements";
    if (!isUsual && Object.values<number>(numbers).every((n) => n === 0)) continue;
    const parts = Object.entries<number>(numbers).map(
      ([how, n]) => `${n.toLocaleString("en")} ${how}`,
    );
    lines.push(`${what}: ${parts.join(", ")}`.replaceAll("_", " "));
  }

  if (held > 0) lines.push(`kept private or deleted by a takedown: ${plural(held, "user")}`);
  const listed = notFound.map(({ type, id }) => `${type} ${id}`);
  if (listed.length > 20) listed.splice(20, Infinity, `and ${listed.length - 20} more`);
  if (listed.length > 0) lines.push(`not deleted, because not found: ${listed.join(", ")}`);

  for (const { file, column, meant } of unknownColumns) {
    const question = meant === undefined ? "" : `; did you mean ${meant}?`;
    lines.push(`${file}: left out the unknown column "${printable(column)}"${question}`);
  }

  for (const [problem, { count, example = "" }, advice] of [
    ["HTML entities in", names.entities, "; import --decode-html decodes them"],
    ["text possibly read in the wrong encoding in", names.misread, ""],
    ["text that means no value as", names.placeholders, ""],
  ] as const) {
    const found = `${plural(count, "name")}, such as "${printable(example)}"`;
    if (count > 0) lines.push(`${problem} ${found}${advice}`);
  }

  if (times.count > 0) {
    const example = `such as "${printable(times.example ?? "")}"`;
    lines.push(`before 1990 or in the future: ${plural(times.count, "time")}, ${example}`);
  }
  return `${lines.join("\n")}\n`;
}
