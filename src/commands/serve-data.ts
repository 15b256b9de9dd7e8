/** `serve --data`: imports a dataset or CSV files into a temporary snapshot, again when they change. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { plural } from "../domain/text.ts";
import { describeError, reasonOf } from "../files/errors.ts";
import { makeTemporaryFolder } from "../files/lock.ts";
import { UnlikelyChange } from "../import/guard.ts";
import { importDataset } from "../import/import.ts";
import { DatasetError } from "../import/record-errors.ts";
import { listDetails } from "./report.ts";

/** Allows data to shrink while it is edited, but not a wrong column that would publish most users. */
const OPTIONS = { allowShrink: true, holdMs: 0 };

export type ImportedData = Awaited<ReturnType<typeof openData>>;

/** Imports what is at `source`. The error is for the operator. */
export async function openData(source: string, log: Logger) {
  const { folder } = await makeTemporaryFolder();
  const path = join(folder, "snapshot");
  // Facts about the files, at the last look and at the last import.
  let seen = "";
  let imported = await factsOf(source);
  let refused: string | undefined;

  async function importNow(): Promise<void> {
    const report = await importDataset(source, path, OPTIONS);
    for (const line of listDetails(report)) log.info(line);
  }

  /** Imports data that has changed, once it has stayed the same between two calls. Never rejects. */
  async function refresh(): Promise<void> {
    const facts = await factsOf(source);
    const isComplete = facts === seen;
    seen = facts;
    if (!isComplete || facts === imported) return;

    imported = facts;
    try {
      await importNow();
      refused = undefined;
    } catch (error) {
      const errors = error instanceof DatasetError ? ` (${plural(error.count, "error")})` : "";
      refused = `cannot be imported${errors}`;
      const isUnlikely = error instanceof UnlikelyChange;
      const cure = isUnlikely ? "; a restart serves the new data without comparing it" : "";
      log.error(`${describeFailure(error, source)}\nserving the data from before${cure}`);
    }
  }

  await importNow().catch((error) => {
    throw new Error(describeFailure(error, source));
  });
  /** `refused` says why the snapshot is older than the data. Anyone can read this. */
  return { path, refresh, refused: () => refused };
}

/** The advice in an error may name flags that `serve` does not have. */
function describeFailure(error: unknown, source: string): string {
  const problem = problemOf(error, source);
  if (!problem.includes(" --")) return problem;
  const advice = `to add a flag, run roadbook import ${source} --to SNAPSHOT with it, then roadbook SNAPSHOT`;
  return `${problem}\n${advice}`;
}

function problemOf(error: unknown, source: string): string {
  // It names the snapshot, which is a temporary file.
  if (error instanceof UnlikelyChange) return `${source} ${error.change}`;
  const message = describeError(error);
  return error instanceof DatasetError ? `${source} cannot be imported\n${message}` : message;
}

/**
 * Returns the same text as long as each file stays the same, or cannot be read. Looks at one after the
 * other, so that a hung network drive holds no more than one of the threads that read files.
 */
async function factsOf(source: string): Promise<string> {
  const names = await readdir(source).catch(() => []);
  const facts: unknown[] = [];
  for (const file of [source, ...names.map((name) => join(source, name))]) {
    const found = await stat(file).catch(reasonOf);
    facts.push(file, typeof found === "string" ? found : [found.mtimeMs, found.size, found.ino]);
  }
  return JSON.stringify(facts);
}
