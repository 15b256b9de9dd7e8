/** `roadbook check`: reads all of a snapshot and says whether it can be trusted. */
import type { Settings } from "../config.ts";
import { checkSnapshot } from "../snapshot/read/check.ts";
import { describeCounts } from "./report.ts";

export async function runCheck(settings: Settings): Promise<number> {
  const [path = ""] = settings.words;
  const { built_at, counts } = checkSnapshot(path);
  process.stdout.write(`${path} is whole: built ${built_at}, ${describeCounts(counts)}\n`);
  return 0;
}
