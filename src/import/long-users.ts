/** Finds the users whose achievements, each with its definition, would take too much of a response. */
import { MAX_ACHIEVEMENTS_BYTES } from "../domain/model.ts";
import { encodeUnlocks } from "../snapshot/format/records.ts";
import { achievement, type Unlock, user } from "../snapshot/format/schema.ts";
import { type Database, prepareText } from "../sqlite/driver.ts";
import type { ReportError } from "./read-dataset.ts";

/** More bytes than an entry adds to the JSON of its definition. */
const ENTRY_BYTES = 100;

export type UserUnlocks = Pick<typeof user.$inferSelect, "id" | "name" | "achievements">;

/**
 * Lists those of `users`, or of all, with the newest achievements that fit. Reads nobody if `most`
 * achievements would fit even if all definitions were as long as the longest.
 */
export function* listLongUsers(
  db: Database,
  most: number,
  users: Iterable<UserUnlocks> = listUsers(db),
) {
  const rows = db.select().from(achievement).all();
  const definitions = new Map(rows.map((row) => [row.id, JSON.stringify(row)]));
  const sizes = definitions.values().map((json) => Buffer.byteLength(json));
  const longest = sizes.reduce((max, size) => Math.max(max, size), 0);
  if (most * (longest + ENTRY_BYTES) <= MAX_ACHIEVEMENTS_BYTES) return;

  for (const { id, name, achievements } of users) {
    const unlocks: Unlock[] = JSON.parse(achievements);
    let bytes = 1;
    const fitting = unlocks.filter((unlock) => {
      // In a longer list, a comma takes the place of one of the two brackets.
      const entry = encodeUnlocks([unlock], (id) => definitions.get(id) ?? "");
      bytes += Buffer.byteLength(entry) - 1;
      return bytes <= MAX_ACHIEVEMENTS_BYTES;
    });
    if (fitting.length < unlocks.length) yield { id, name, bytes, fitting };
  }
}

function* listUsers(db: Database): Generator<UserUnlocks> {
  const { id, name, achievements } = user;
  yield* prepareText(db, db.select({ id, name, achievements }).from(user)).iterate();
}

export function reportLongUsers(db: Database, most: number, report: ReportError): void {
  for (const { id, name, bytes } of listLongUsers(db, most)) {
    const kind = `must take at most ${MAX_ACHIEVEMENTS_BYTES / 1024} KB in a response`;
    const reason = `${kind}, got ${Math.ceil(bytes / 1024)} KB for ${JSON.stringify(name)}`;
    report({ field: "achievements", reason, kind, type: "user", id });
  }
}
