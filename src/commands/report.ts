/** The report on a snapshot that a command has written, as sentences and as JSON. */
import type { MissingRecord, UnknownColumn } from "../domain/records.ts";
import { groupDigits, plural, printable } from "../domain/text.ts";
import type { OddCount } from "../import/clean-record.ts";
import type { Differences } from "../import/guard.ts";
import type { WriteReport } from "../import/import.ts";
import type { Counts } from "../snapshot/format/meta.ts";

const MAX_NOT_FOUND = 20;

export function toOutcome(report: WriteReport): object {
  const { sha256 = null, counts, differences = null, held = 0, notFound = [] } = report;
  const { cleaned, names, times, unknownColumns, notes, skipped, madePrivate } = report;
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
    skipped: { count: skipped.count, users_made_private: madePrivate, groups: skipped.groups() },
  };
}

export function describeCounts(counts: Counts): string {
  const publicUsers = groupDigits(counts.public_users);
  const users = `${plural(counts.users, "user")} (${publicUsers} public)`;
  const companies = plural(counts.companies, "company", "companies");
  const achievements = plural(counts.achievements, "achievement");
  return `${users}, ${companies}, ${achievements}, ${plural(counts.roles, "role")}`;
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
  const { differences, held = 0, notFound = [], unknownColumns, notes, names, times } = report;
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

/** Leaves out counts that have not changed, except the first lines, which always appear. */
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

function describeNotFound(notFound: readonly MissingRecord[]): string | undefined {
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
