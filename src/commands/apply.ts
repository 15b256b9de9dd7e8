/** `roadbook apply`: applies a change file to a snapshot. */
import { paragraph } from "../domain/text.ts";
import { applyChanges } from "../import/apply.ts";
import { declare } from "../settings/declare.ts";
import * as kinds from "../settings/kinds.ts";
import { command } from "./command.ts";
import { describeWritten, listDetails, toOutcome } from "./report.ts";
import { finish, readingFlags, write, writingFlags } from "./written.ts";

export const applyCommand = command({
  settings: declare("Flags", {
    changes: {
      name: "CHANGES",
      kind: kinds.text("CHANGES"),
      required: true,
      help: "the change file; - for standard input",
    },
    to: { kind: kinds.target, required: true, help: "the snapshot to change" },
    ...readingFlags,
    ...writingFlags,
  }),
  notes: [
    paragraph(
      "A server that reads this file notices the new snapshot within a second, and serves it",
      "once it has verified it.",
    ),
  ],
  examples: [
    "apply changes.ndjson --to community.snapshot",
    "apply - --to community.snapshot < changes.ndjson",
  ],
  async run({ changes, to, ...options }) {
    const applied = await write("changes", (hooks) =>
      applyChanges(changes, to, { ...options, ...hooks }),
    );
    const summary = `applied ${changes}: ${to} now has ${describeWritten(applied)}`;
    await finish(to, options, [summary, ...listDetails(applied)], toOutcome(applied));
  },
});
