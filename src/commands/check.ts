/** `roadbook check`: verifies a snapshot. */
import { declare } from "../settings/setting.ts";
import { checkSnapshot } from "../snapshot/format/open.ts";
import { command, describeCounts, json, snapshotFile, toLine, writeStdout } from "./command.ts";

export const checkCommand = command({
  settings: declare("Flags", { file: snapshotFile, json }),
  examples: ["check community.snapshot", "check community.snapshot --json"],
  async run({ file, json }) {
    const { built_at, counts, sha256 } = await checkSnapshot(file);
    const sentence = `${file} is intact: built ${built_at}, ${describeCounts(counts)}\n`;
    writeStdout(json ? toLine({ snapshot: file, sha256, built_at, counts }) : sentence);
  },
});
