/** `roadbook apply`: changes a snapshot file, by way of a new one. */
import { openInput } from "../files/lines.ts";
import { applyChanges } from "../snapshot/build/apply.ts";
import type { Location } from "../snapshot/remote/location.ts";
import { writeStdout } from "./output.ts";
import { describeCounts, reportErrors } from "./report.ts";
import { endOnSignal } from "./signals.ts";
import { refuseSameFile, writeTarget } from "./target.ts";

interface ApplyOptions {
  /** The file of the changed lines, or `-`. */
  changes: string;
  to: string;
  /** Where `to` is, when it is no file. */
  location: Location | undefined;
  expectEnd: boolean;
}

export async function runApply({ changes, to, location, expectEnd }: ApplyOptions): Promise<void> {
  refuseSameFile(changes, to);
  const counts = await reportErrors("changes", () =>
    endOnSignal(() =>
      writeTarget(to, location, (path) => applyChanges(openInput(changes), path, { expectEnd })),
    ),
  );
  writeStdout(`applied ${changes}: ${to} now has ${describeCounts(counts)}\n`);
}
