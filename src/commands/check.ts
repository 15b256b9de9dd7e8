/** `roadbook check`: reads all of a snapshot and reports whether it can be trusted. */
import { checkSnapshot } from "../snapshot/read/check.ts";
import { writeStdout } from "./output.ts";
import { describeCounts } from "./report.ts";

export async function runCheck(path: string): Promise<void> {
  const { built_at, counts } = await checkSnapshot(path);
  writeStdout(`${path} is whole: built ${built_at}, ${describeCounts(counts)}\n`);
}
