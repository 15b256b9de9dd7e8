/** The commands that write snapshots: `import`, `apply` and `hide`. */
import { printable } from "../domain/invalid-values.ts";
import { openInput } from "../files/lines.ts";
import type { LockOptions } from "../files/replace.ts";
import { integer, parseNamed, UsageError } from "../settings/kinds.ts";
import { isSnapshot } from "../snapshot/format/file.ts";
import { PREVIOUS_SCHEMA } from "../snapshot/format/verify.ts";
import { type ApplyOptions, applyChanges, hideUsers } from "../snapshot/import/apply.ts";
import { type ImportOptions, importDataset } from "../snapshot/import/import.ts";
import { DatasetError, formatErrors, groupErrors } from "../snapshot/import/line-errors.ts";
import type { OddNames } from "../snapshot/import/odd-names.ts";
import type { Read } from "../snapshot/import/read-dataset.ts";
import { MAX_HOLD_MS } from "../snapshot/import/takedowns.ts";
import type { Counted } from "../snapshot/import/write.ts";
import { exportDataset } from "../snapshot/read/export.ts";
import { findProblem, isFolder } from "../tables/read-tables.ts";
import { confirmServed } from "./health.ts";
import {
  chunksOf,
  describeCounts,
  endOnSignal,
  Progress,
  plural,
  toLine,
  writeSummary,
} from "./output.ts";

/** `confirm` is the URL of a server that must serve the new snapshot. */
interface Reporting {
  json: boolean;
  confirm: string | undefined;
  waitMs: number;
}

/** `source` is a file, a folder of CSV files, `-` for standard input, or a database's URL. */
export async function runImport({
  source,
  to = "",
  ...options
}: ImportOptions & Reporting & { source: string; to: string | undefined }): Promise<void> {
  const problem = findProblem(source, options.queries);
  if (problem !== undefined) throw new UsageError(`SOURCE ${problem}`);
  const isTables = options.queries !== undefined || isFolder(source);
  if (isTables && options.expectEnd) throw new UsageError("--expect-end works only with NDJSON");
  if (options.confirm && options.dryRun) throw new UsageError("a --dry-run cannot be confirmed");
  const read = (await isSnapshot(source)) ? readSnapshot : readWithProgress;
  if ((options.holdMs ?? 0) > MAX_HOLD_MS) throw new UsageError("--hold must be at most 1h");
  const imported = await write("dataset", (hooks, progress) =>
    importDataset(isTables ? source : read(source, progress), to, {
      ...options,
      onRead: (file, rows) => progress.show(`reading ${file}: ${rows.toLocaleString("en")} rows`),
      onSlow: (file) =>
        progress.warn(`a page of ${file} took longer than half a second; ${ANALYZE}`),
      onIndexed: (share) => progress.show(`indexing: ${Math.floor(100 * share)} %`),
      ...hooks,
    }),
  );
  const summarize = () => {
    const { counts, skipped, cleaned } = imported;
    if (skipped.count > 0) process.stderr.write(`${formatErrors(skipped)}\n`);
    const done = options.dryRun ? "dry run (nothing was written): would import" : "imported";
    const hidden = skipped.hidden > 0 ? `, made ${plural(skipped.hidden, "user")} private` : "";
    const left = skipped.count > 0 ? `, skipped ${plural(skipped.count, "error")}${hidden}` : "";
    const where = to && ` to ${to}`;
    report(`${done} ${describeCounts(counts)}${where}${describeCleaned(cleaned)}${left}`, imported);
  };
  await finish(to, options, imported, summarize, { dry_run: options.dryRun === true });
}

export async function runApply({
  changes,
  to,
  ...options
}: ApplyOptions & Reporting & Record<"changes" | "to", string>): Promise<void> {
  const applied = await write("changes", (hooks) =>
    applyChanges(openInput(changes), to, { ...options, ...hooks }),
  );
  const now = `${to} now has ${describeCounts(applied.counts)}${describeCleaned(applied.cleaned)}`;
  await finish(to, options, applied, () => report(`applied ${changes}: ${now}`, applied));
}

export async function runHide({
  ids,
  to,
  ...options
}: ApplyOptions & Reporting & { ids: string[]; to: string }): Promise<void> {
  const kind = integer(1, Number.MAX_SAFE_INTEGER);
  const parse = (id: string) => Number(parseNamed("ID…", kind, id, () => kind.parse(id, {})));
  const given = options.idMap === undefined ? ids.map(parse) : ids;
  const hidden = await write("changes", (hooks) => hideUsers(given, to, { ...options, ...hooks }));
  const users = hidden.found;
  const idsOf = (wasPublic: number) =>
    users.filter((user) => user.is_public === wasPublic).map(({ id }) => id);
  const nameUser = ({ id, is_public }: (typeof users)[number]) =>
    `${to}: user ${id} ${is_public ? "is now private" : "was private already"}\n`;
  const summarize = () => writeSummary(users.map(nameUser).join(""));
  const more = { made_private: idsOf(1), already_private: idsOf(0) };
  await finish(to, options, hidden, summarize, more);
}

const ANALYZE = "run ANALYZE on its tables, or add the index that it needs";

/** Turns a `DatasetError` into an error that counts and lists the problems in `input`. */
async function write<T>(
  input: string,
  run: (hooks: LockOptions, progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = new Progress();
  const onWait = () => progress.show("waiting for another command to finish writing");
  try {
    return await endOnSignal((onCommit) => run({ onCommit, onWait }, progress)).finally(() =>
      progress.end(),
    );
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    const count = plural(error.count, "error");
    throw new Error(`${count} in the ${input}; nothing was written\n${error.message}`);
  }
}

/** Lists the lines of a snapshot that this release or the one before has written. */
async function* readSnapshot(path: string): AsyncGenerator<Uint8Array> {
  const lines = await exportDataset(path, PREVIOUS_SCHEMA);
  for await (const chunk of chunksOf(lines)) yield Buffer.from(chunk);
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
  summarize: () => void,
  more?: object,
): Promise<void> {
  if (!json) summarize();
  if (confirm) await confirmServed(to, confirm, waitMs);
  if (json) writeOutcome(to, counted, more);
}

/** Writes the outcome as one JSON object. */
function writeOutcome(to: string, counted: Counted, more: object = {}): void {
  const { sha256 = null, counts, differences = null, held, cleaned, names, skipped } = counted;
  const { count, hidden: users_made_private } = skipped;
  const outcome = {
    ...{ snapshot: to || null, sha256, ...more, counts, differences, held },
    ...{ not_found: counted.notFound, names: { cleaned, ...names } },
    unknown_columns: counted.unknownColumns,
    skipped: { count, users_made_private, groups: groupErrors(skipped) },
    seconds: Number((performance.now() / 1000).toFixed(3)),
  };
  writeSummary(toLine(outcome));
}

/** Writes a summary, and a line for each kind of difference from the old snapshot. */
function report(summary: string, counted: Counted): void {
  const { differences, held, notFound } = counted;
  const lines = Object.entries(differences ?? {}).map(([what, numbers]) => {
    const parts = Object.entries<number>(numbers).map(
      ([how, n]) => `${n.toLocaleString("en")} ${how}`,
    );
    return `${what}: ${parts.join(", ")}`.replaceAll("_", " ");
  });
  if (held > 0) lines.push(`kept private or deleted by a takedown: ${plural(held, "user")}`);
  const listed = notFound.map(({ type, id }) => `${type} ${id}`);
  if (listed.length > 20) listed.splice(20, Infinity, `and ${listed.length - 20} more`);
  if (listed.length > 0) lines.push(`not deleted, because not found: ${listed.join(", ")}`);
  writeSummary(`${[summary, ...lines, ...listFindings(counted)].join("\n")}\n`);
}

/** Returns a line for each finding that is no error, but that the operator should look at. */
function listFindings({ names: { entities, misread }, unknownColumns }: Read): string[] {
  const lines = unknownColumns.map(({ file, column, meant }) => {
    const question = meant === undefined ? "" : `; did you mean ${meant}?`;
    return `${file}: left out the unknown column "${printable(column)}"${question}`;
  });
  const describe = ({ count, example = "" }: OddNames) =>
    `${plural(count, "name")}, such as "${printable(example)}"`;
  const advice = "import --decode-html decodes them";
  if (entities.count > 0) lines.push(`HTML entities in ${describe(entities)}; ${advice}`);
  if (misread.count > 0) lines.push(`UTF-8 possibly read as Latin-1 in ${describe(misread)}`);
  return lines;
}

/** Returns the end of a summary. */
function describeCleaned(names: number): string {
  if (names === 0) return "";
  return `, removed control characters or extra white space in ${plural(names, "name")}`;
}
