/** `roadbook check`: reads all of a snapshot and reports whether it can be trusted. */
import { checkSnapshot } from "../snapshot/read/check.ts";
import { writeStdout } from "./output.ts";
import { describeCounts } from "./report.ts";

export function runCheck(path: string): void {
  const { built_at, counts } = checkSnapshot(path);
  writeStdout(`${path} is whole: built ${built_at}, ${describeCounts(counts)}\n`);
}
