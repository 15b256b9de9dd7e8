/** `roadbook apply`: changes a snapshot file, by way of a new one. */
import { openInput } from "../files/lines.ts";
import { applyChanges } from "../snapshot/build/apply.ts";
import { writeStdout } from "./output.ts";
import { describeCounts, reportErrors } from "./report.ts";
import { endOnSignal, refuseSameFile } from "./target.ts";

interface ApplyOptions {
  /** The file of the changed lines, or `-`. */
  changes: string;
  to: string;
  expectEnd: boolean;
}

export async function runApply({ changes, to, expectEnd }: ApplyOptions): Promise<void> {
  refuseSameFile(changes, to);
  const counts = await reportErrors("changes", () =>
    endOnSignal(() => applyChanges(openInput(changes), to, { expectEnd })),
  );
  writeStdout(`applied ${changes}: ${to} now has ${describeCounts(counts)}\n`);
}
