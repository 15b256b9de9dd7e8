/** `roadbook apply`: changes a snapshot file, by way of a new one. */
import { required, type Settings } from "../config.ts";
import { openInput } from "../files/lines.ts";
import { applyChanges } from "../snapshot/build/apply.ts";
import { describeCounts, reportErrors } from "./report.ts";

export async function runApply(settings: Settings): Promise<number> {
  const [changes = ""] = settings.words;
  const target = required(settings, "to");
  const expectEnd = settings.isOn("expect-end");
  const counts = await reportErrors("changes", () =>
    applyChanges(openInput(changes), target, { expectEnd }),
  );
  process.stdout.write(`applied ${changes}: ${target} now has ${describeCounts(counts)}\n`);
  return 0;
}
