/** `roadbook hide`: makes users private in a snapshot. */
import { UsageError } from "../domain/invalid-value.ts";
import { paragraph } from "../domain/text.ts";
import { hideUsers } from "../import/hide.ts";
import { declare } from "../settings/setting.ts";
import * as types from "../settings/value-types.ts";
import { command } from "./command.ts";
import { startWriting, writingFlags } from "./writing.ts";

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
    const users = options.idMap === undefined ? ids.map(parseUserId) : ids;
    using writing = startWriting("changes", to, options);
    const hiding = hideUsers(users, to, { ...options, ...writing.hooks });
    const { found, sha256, counts } = await hiding.catch(writing.rethrow);

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
    const quoted = JSON.stringify(text);
    throw new UsageError(`ID… must be a user's number, got ${quoted}; a key needs --id-map FILE`);
  }
}
