/** What `import`, `apply` and `hide` have in common: flags, the report, and how they end. */

import { ERRORS_PER_KIND, WAIT_MS } from "../domain/limits.ts";
import { formatDuration } from "../domain/time.ts";
import { BusyError } from "../files/lock.ts";
import type { ReplaceOptions } from "../files/replace.ts";
import { DatasetError } from "../import/record-errors.ts";
import * as kinds from "../settings/kinds.ts";
import { json, toLine } from "./command.ts";
import { endOnSignal, type Progress, startProgress, writeSummary } from "./output.ts";
import { plural } from "./report.ts";

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
