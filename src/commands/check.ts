/** `roadbook check`: verifies a snapshot. */
import { declare } from "../settings/setting.ts";
import { checkSnapshot } from "../snapshot/format/open.ts";
import { command, json, snapshotFile } from "./command.ts";
import { describeCounts } from "./report.ts";
import { writeStdout } from "./terminal.ts";

export const checkCommand = command({
  settings: declare("Flags", { file: snapshotFile, json }),
  examples: ["check community.snapshot", "check community.snapshot --json"],
  async run({ file, json }) {
    const { built_at, counts, sha256 } = await checkSnapshot(file);
    const sentence = `${file} is intact: built ${built_at}, ${describeCounts(counts)}`;
    const outcome = JSON.stringify({ snapshot: file, sha256, built_at, counts });
    writeStdout(`${json ? outcome : sentence}\n`);
  },
});
