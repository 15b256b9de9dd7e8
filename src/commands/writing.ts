/** Common parts of the commands that write a snapshot: flags, and how they begin and end. */
import { setTimeout as sleep } from "node:timers/promises";
import { plural } from "../domain/text.ts";
import { formatDuration } from "../domain/time.ts";
import { reasonOf } from "../files/errors.ts";
import { BusyError, WAIT_MS } from "../files/lock.ts";
import { DatasetError, ERRORS_PER_GROUP } from "../import/record-errors.ts";
import * as types from "../settings/value-types.ts";
import { readChecksum } from "../snapshot/format/layout.ts";
import { json } from "./command.ts";
import { ENDING, endOnSignal, startProgress, writeSummary } from "./terminal.ts";

/** The last request of `--confirm` has this time for a response, which says why. */
const LAST_REQUEST_MS = 1000;
const POLL_MS = 100;

/** The flags of commands that read lines. */
export const readingFlags = {
  expectEnd: { type: types.boolean, help: 'fail unless the last line is {"type":"end","lines":N}' },
  allowShrink: { type: types.boolean, help: "allow losing most users or most of what they have" },
  maxErrors: {
    type: types.integer(1, 1_000_000),
    default: String(ERRORS_PER_GROUP),
    help: "errors to show per kind",
  },
};

export const writingFlags = {
  idMap: { type: types.text("FILE"), help: "allow ids of any kind, kept as integers in this file" },
  waitMs: {
    name: "--wait",
    type: types.time,
    default: formatDuration(WAIT_MS),
    help: "how long to wait for writers, then --confirm",
  },
  confirm: { type: types.baseUrl, help: "fail unless the server there serves the new snapshot" },
  json,
};

interface WritingOptions {
  json: boolean;
  /** The URL of a server that must serve the new snapshot. */
  confirm: string | undefined;
  waitMs: number;
}

/** Shows the progress of a command that writes the snapshot `to` from `input`, and reports on it. */
export function startWriting(
  input: string,
  to: string | undefined,
  { json, confirm, waitMs }: WritingOptions,
) {
  const progress = startProgress();
  const ending = endOnSignal();
  return {
    progress,
    /** For the function that writes. */
    hooks: {
      onWait: () => progress.show("waiting for another command to finish writing"),
      onCommit: ending.onCommit,
    },

    /** Throws an error of that function again, with the count of problems or the flag for how long to wait. */
    rethrow(error: unknown): never {
      if (error instanceof BusyError) throw new Error(`${error.message}; --wait sets this time`);
      if (!(error instanceof DatasetError)) throw error;
      const count = plural(error.count, "error");
      throw new Error(`${count} in the ${input}; nothing was written\n${error.message}`);
    },

    /** Says what was done, and waits for the server. With --json, a failure to wait is all it says. */
    async reportAndConfirm(lines: readonly string[], outcome: object): Promise<void> {
      progress[Symbol.dispose]();
      if (!json) writeSummary(`${lines.join("\n")}\n`);
      if (confirm && to !== undefined) await confirmServed(to, confirm, waitMs);
      if (!json) return;
      const seconds = Number((performance.now() / 1000).toFixed(3));
      writeSummary(`${JSON.stringify({ snapshot: to ?? null, ...outcome, seconds })}\n`);
    },

    [Symbol.dispose](): void {
      progress[Symbol.dispose]();
      ending[Symbol.dispose]();
    },
  };
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

/**
 * Returns undefined if the server has the SHA-256 at the end of the file, even if another command has
 * replaced the file since.
 */
async function findDifference(path: string, url: string, limitMs: number) {
  const { fetchHealth, NOT_SERVED, REQUEST_MS } = await import("./health.ts");
  const health = await fetchHealth(url, Math.min(limitMs, REQUEST_MS));
  const { snapshot, refused_replacement: reason } = health;
  if (snapshot.sha256 === (await readChecksum(path))) return undefined;
  return reason ? NOT_SERVED + reason : `the server serves a snapshot of ${snapshot.built_at}`;
}
