/** `roadbook apply`: changes a snapshot by a change file. */
import { paragraph } from "../domain/text.ts";
import { applyChanges } from "../import/apply.ts";
import { declare } from "../settings/setting.ts";
import * as types from "../settings/value-types.ts";
import { command } from "./command.ts";
import { describeWritten, listDetails, toOutcome } from "./report.ts";
import { readingFlags, startWriting, writingFlags } from "./writing.ts";

export const applyCommand = command({
  settings: declare("Flags", {
    changes: {
      name: "CHANGES",
      type: types.text("CHANGES"),
      required: true,
      help: "the change file; - for standard input",
    },
    to: { type: types.target, required: true, help: "the snapshot to change" },
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
    using writing = startWriting("changes", to, options);
    const applying = applyChanges(changes, to, { ...options, ...writing.hooks });
    const applied = await applying.catch(writing.rethrow);
    const summary = `applied ${changes}: ${to} now has ${describeWritten(applied)}`;
    await writing.reportAndConfirm([summary, ...listDetails(applied)], toOutcome(applied));
  },
});
