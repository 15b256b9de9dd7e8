/** What `import`, `apply` and `hide` have in common: flags, their report, and how they end. */

import { ERRORS_PER_KIND, WAIT_MS } from "../domain/constants.ts";
import type { UnknownColumn } from "../domain/record-reader.ts";
import { printable } from "../domain/text.ts";
import { formatDuration } from "../domain/time.ts";
import { BusyError } from "../files/lock.ts";
import type { ReplaceOptions } from "../files/replace.ts";
import type { OddCount } from "../import/clean-record.ts";
import type { Differences, WriteReport } from "../import/guard.ts";
import { DatasetError } from "../import/read-dataset.ts";
import * as kinds from "../settings/kinds.ts";
import type { Counts } from "../snapshot/format/meta.ts";
import {
  endOnSignal,
  json,
  type Progress,
  startProgress,
  toLine,
  writeSummary,
} from "./command.ts";

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
  if (confirm && to !== undefined) {
    const { confirmServed } = await import("./health.ts");
    await confirmServed(to, confirm, waitMs);
  }
  if (!json) return;
  const seconds = Number((performance.now() / 1000).toFixed(3));
  writeSummary(toLine({ snapshot: to ?? null, ...outcome, seconds }));
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

    const described = parts.map(([how, count]) => `${formatCount(count)} ${how}`);
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

export function describeCounts(counts: Counts): string {
  const publicUsers = formatCount(counts.public_users);
  const users = `${plural(counts.users, "user")} (${publicUsers} public)`;
  const companies = plural(counts.companies, "company", "companies");
  const achievements = plural(counts.achievements, "achievement");
  return `${users}, ${companies}, ${achievements}, ${plural(counts.roles, "role")}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Groups the digits: 1,234. The first use of `toLocaleString` would take 2 ms. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
