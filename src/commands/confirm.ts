/** `--confirm`: waits until a running server serves the snapshot that a command has written. */
import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf } from "../files/errors.ts";
import { readChecksum } from "../snapshot/format/layout.ts";
import { fetchHealth, NOT_SERVED, REQUEST_MS } from "./health.ts";
import { ENDING } from "./output.ts";

/** The last request has this time for a response, which says why. */
const LAST_REQUEST_MS = 1000;
const POLL_MS = 100;

/** Waits until the server at `url` serves the file at `path`. Throws after `waitMs` or a signal. */
export async function confirmServed(path: string, url: string, waitMs: number): Promise<void> {
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
  const health = await fetchHealth(url, Math.min(limitMs, REQUEST_MS));
  const { snapshot, refused_replacement: reason } = health;
  if (snapshot.sha256 === (await readChecksum(path))) return undefined;
  return reason ? NOT_SERVED + reason : `the server serves a snapshot of ${snapshot.built_at}`;
}
