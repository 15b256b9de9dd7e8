/** How commands report what is in a snapshot, and what was wrong with the lines they were given. */
import { DatasetError, formatErrors, type LineErrors } from "../snapshot/build/dataset.ts";
import type { Counts } from "../snapshot/format/meta.ts";

export function describeCounts(counts: Counts): string {
  return [
    `${counts.users} users (${counts.public_users} public)`,
    `${counts.companies} companies`,
    `${counts.achievements} achievements`,
    `${counts.roles} roles`,
  ].join(", ");
}

/** Runs what reads lines; errors in them become one error that counts and lists them. */
export async function reportErrors<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    throw new Error(
      `${plural(error.count, "error")} in the ${what}, nothing was written\n${error.message}`,
    );
  }
}

/** Lists on standard error what was left out of an import. */
export function reportSkipped(skipped: LineErrors): void {
  if (skipped.count > 0) process.stderr.write(`${formatErrors(skipped)}\n`);
}

/** How much was left out, to go on where a sentence ends; empty when that is nothing. */
export function describeSkipped({ lines, references }: LineErrors): string {
  if (lines + references === 0) return "";
  const lost = references > 0 ? ` and ${plural(references, "reference")}` : "";
  return `, skipped ${plural(lines, "line")}${lost}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
