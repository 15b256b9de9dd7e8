/** What `import`, `apply` and `hide` have in common: flags, their report, and how they end. */
import { setTimeout as sleep } from "node:timers/promises";
import { ERRORS_PER_KIND, WAIT_MS } from "../domain/constants.ts";
import type { UnknownColumn } from "../domain/dataset.ts";
import { groupDigits, printable } from "../domain/text.ts";
import { formatDuration } from "../domain/time.ts";
import { reasonOf } from "../files/errors.ts";
import { BusyError } from "../files/lock.ts";
import type { ReplaceOptions } from "../files/replace.ts";
import type { OddCount } from "../import/clean-record.ts";
import type { Differences, WriteReport } from "../import/guard.ts";
import { DatasetError } from "../import/read-dataset.ts";
import * as kinds from "../settings/kinds.ts";
import { readChecksum } from "../snapshot/format/layout.ts";
import {
  describeCounts,
  ENDING,
  endOnSignal,
  json,
  type Progress,
  plural,
  startProgress,
  toLine,
  writeSummary,
} from "./command.ts";

/** The last request of `--confirm` has this time for a response, which says why. */
const LAST_REQUEST_MS = 1000;
const POLL_MS = 100;

/** The flags of commands that read lines. */
export const readingFlags = {
  expectEnd: { kind: kinds.boolean, help: 'fail unless the last line is {"type":"end","lines":N}' },
  allowShrink: { kind: kinds.boolean, help: "allow losing most users or most of what they have" },
  maxErrors: {
    kind: kinds.integer(1, 1_000_000),
    default: String(ERRORS_PER_KIND),
    help: "errors to show per kind",
  },
};

export const writingFlags = {
  idMap: { kind: kinds.text("FILE"), help: "allow ids of any kind, kept as integers in this file" },
  waitMs: {
    kind: kinds.time,
    default: formatDuration(WAIT_MS),
    help: "how long to wait for writers, then --confirm",
  },
  confirm: { kind: kinds.baseUrl, help: "fail unless the server there serves the new snapshot" },
  json,
};

/** Completes errors: counts the problems in `input`, or names the flag for how long to wait. */
export async function write<T>(
  input: string,
  run: (hooks: ReplaceOptions, progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = startProgress();
  const onWait = () => progress.show("waiting for another command to finish writing");
  try {
    return await endOnSignal((onCommit) => run({ onCommit, onWait }, progress));
  } catch (error) {
    if (error instanceof BusyError) throw new Error(`${error.message}; --wait sets this time`);
    if (!(error instanceof DatasetError)) throw error;
    const count = plural(error.count, "error");
    throw new Error(`${count} in the ${input}; nothing was written\n${error.message}`);
  } finally {
    progress.end();
  }
}

interface FinishOptions {
  json: boolean;
  /** The URL of a server that must serve the new snapshot. */
  confirm: string | undefined;
  waitMs: number;
}

/** Says what was done, and waits for the server. With --json, a failure to wait is all it says. */
export async function finish(
  to: string | undefined,
  { json, confirm, waitMs }: FinishOptions,
  lines: readonly string[],
  outcome: object,
): Promise<void> {
  if (!json) writeSummary(`${lines.join("\n")}\n`);
  if (confirm && to !== undefined) await confirmServed(to, confirm, waitMs);
  if (!json) return;
  const seconds = Number((performance.now() / 1000).toFixed(3));
  writeSummary(toLine({ snapshot: to ?? null, ...outcome, seconds }));
}

/** Waits until the server at `url` serves the file at `path`. Throws after `waitMs` or a signal. */
async function confirmServed(path: string, url: string, waitMs: number): Promise<void> {
  let endMs = performance.now() + waitMs;
  const giveUp = () => {
    endMs = 0;
  };
  for (const signal of ENDING) process.once(signal, giveUp);

  for (;;) {
    const leftMs = Math.ceil(endMs - performance.now());
    const limitMs = Math.max(leftMs, LAST_REQUEST_MS);
    const reason = await findDifference(path, url, limitMs).catch(reasonOf);
    if (reason === undefined) return;

    const problem = `${path} was written, but not confirmed: ${reason}`;
    if (performance.now() >= endMs) throw new Error(problem);
    await sleep(POLL_MS);
  }
}

/** Returns undefined if the server has the SHA-256 at the end of the file, whoever wrote it last. */
async function findDifference(path: string, url: string, limitMs: number) {
  const { fetchHealth, NOT_SERVED, REQUEST_MS } = await import("./health.ts");
  const health = await fetchHealth(url, Math.min(limitMs, REQUEST_MS));
  const { snapshot, refused_replacement: reason } = health;
  if (snapshot.sha256 === (await readChecksum(path))) return undefined;
  return reason ? NOT_SERVED + reason : `the server serves a snapshot of ${snapshot.built_at}`;
}

const MAX_NOT_FOUND = 20;

export function toOutcome(report: WriteReport): object {
  const { sha256 = null, counts, differences = null, held, notFound } = report;
  const { cleaned, names, times, unknownColumns, notes, skipped } = report;
  const { count, hidden: users_made_private } = skipped;
  return {
    sha256,
    counts,
    differences,
    held,
    not_found: notFound,
    names: { cleaned, ...names },
    times: { odd: times },
    unknown_columns: unknownColumns,
    notes,
    skipped: { count, users_made_private, groups: skipped.groups() },
  };
}

/** Says what the snapshot has, and how many names differ from their source. */
export function describeWritten({ counts, cleaned }: WriteReport, where = ""): string {
  const written = describeCounts(counts) + where;
  if (cleaned === 0) return written;

  const names = plural(cleaned, "name");
  return `${written}, removed control characters or extra white space in ${names}`;
}

/** Lists the differences from the old snapshot, and what looks wrong. */
export function listDetails(report: WriteReport): string[] {
  const { differences, held, notFound, unknownColumns, notes, names, times } = report;
  const { entities, misread, placeholders, contacts } = names;
  const inNames = ({ count }: OddCount) => plural(count, "name");
  const oddTimes = `before 1990 or in the future: ${plural(times.count, "time")}`;
  const lines = [
    ...describeDifferences(differences),
    held > 0 && `kept private or deleted by a takedown: ${plural(held, "user")}`,
    describeNotFound(notFound),
    ...unknownColumns.map(describeColumn),
    ...notes,
    describeOdd(entities, `HTML entities in ${inNames(entities)}`, DECODE),
    describeOdd(misread, `text possibly read in the wrong encoding in ${inNames(misread)}`),
    describeOdd(placeholders, `text that means no value as ${inNames(placeholders)}`),
    describeOdd(contacts, `an e-mail address or telephone number in ${inNames(contacts)}`),
    describeOdd(times, oddTimes),
  ];
  return lines.filter((line) => typeof line === "string");
}

const DECODE = "; import --decode-html decodes them";

/** Leaves out what has not changed, except the lines that everybody looks for. */
function describeDifferences(differences: Differences | undefined): string[] {
  const lines: string[] = [];
  for (const [what, numbers] of Object.entries(differences ?? {})) {
    const parts = Object.entries<number>(numbers);
    const isUsual = what === "users" || what === "unlocked_achievements";
    if (!isUsual && parts.every(([, count]) => count === 0)) continue;

    const described = parts.map(([how, count]) => `${groupDigits(count)} ${how}`);
    lines.push(`${what}: ${described.join(", ")}`.replaceAll("_", " "));
  }
  return lines;
}

function describeNotFound(notFound: WriteReport["notFound"]): string | undefined {
  if (notFound.length === 0) return undefined;

  const shown = notFound.slice(0, MAX_NOT_FOUND).map(({ type, id }) => `${type} ${id}`);
  const rest = notFound.length - shown.length;
  if (rest > 0) shown.push(`and ${rest} more`);
  return `not deleted, because not found: ${shown.join(", ")}`;
}

function describeColumn({ file, column, meant }: UnknownColumn): string {
  const question = meant === undefined ? "" : `; did you mean ${meant}?`;
  return `${file}: left out the unknown column "${printable(column)}"${question}`;
}

function describeOdd({ count, example = "" }: OddCount, text: string, advice = "") {
  return count > 0 && `${text}, such as "${printable(example)}"${advice}`;
}
