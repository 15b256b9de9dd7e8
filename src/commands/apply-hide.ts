/** `roadbook apply` changes a snapshot by a change file, and `roadbook hide` makes users private. */
import { paragraph } from "../domain/text.ts";
import { applyChanges } from "../import/apply.ts";
import { hideUsers } from "../import/takedowns.ts";
import { declare, UsageError } from "../settings/setting.ts";
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
    const applied = await applying.catch(writing.fail);
    const summary = `applied ${changes}: ${to} now has ${describeWritten(applied)}`;
    await writing.reportAndConfirm([summary, ...listDetails(applied)], toOutcome(applied));
  },
});

export const hideCommand = command({
  settings: declare("Flags", {
    ids: { name: "ID…", type: types.text("ID"), list: ";", required: true, help: "user ids" },
    to: { type: types.target, required: true, help: "the snapshot to change" },
    ...writingFlags,
  }),
  notes: [
    paragraph(
      "Unless all users are found, nothing is written and the exit code is 1.",
      "A server that reads this file notices the change within a second, and hides them once it",
      "has verified the new snapshot.",
      "For an hour, imports into the same file keep them private, whatever their source says,",
      "unless --hold shortens this or apply makes them public; hiding them again starts a new",
      "hour.",
    ),
  ],
  examples: ["hide 42 --to community.snapshot", "hide 42 44 --to community.snapshot --json"],
  async run({ ids, to, ...options }) {
    const given = options.idMap === undefined ? ids.map(parseUserId) : ids;
    using writing = startWriting("changes", to, options);
    const hiding = hideUsers(given, to, { ...options, ...writing.hooks });
    const { found, sha256, counts } = await hiding.catch(writing.fail);

    const lines = found.map(({ given, wasPublic }) => {
      return `${to}: user ${given} ${wasPublic ? "is now private" : "was private already"}`;
    });
    lines.push(
      "imports keep them private for an hour, or as long as --hold says; after that, the source decides",
    );
    const idsOf = (wasPublic: boolean) =>
      found.filter((user) => user.wasPublic === wasPublic).map(({ given }) => given);
    const hidden = { made_private: idsOf(true), already_private: idsOf(false) };
    await writing.reportAndConfirm(lines, { sha256, ...hidden, counts });
  },
});

function parseUserId(text: string): number {
  try {
    return types.id.parse(text);
  } catch {
    const given = JSON.stringify(text);
    throw new UsageError(`ID… must be a user's number, got ${given}; a key needs --id-map FILE`);
  }
}
