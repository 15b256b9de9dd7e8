/**
 * Carries change lines out on the rows of a snapshot and on its name index, and holds them to what is
 * there in the end: a reference leads somewhere, and nothing goes that others still name.
 */
import { type ChangeLine, parseChange } from "../../domain/dataset.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { openNameChanges } from "../name-index/change.ts";
import type { LineError, LineHandler } from "./dataset.ts";
import { createRowWriter, listReferences, type Referenced } from "./rows.ts";

/** Of the users that name a thing which is to go, this many are reported. */
const MAX_REPORTED = 5;

type Deletion = { type: Referenced; id: number; line: number };

export function createRowChanger(db: Sqlite): LineHandler<ChangeLine> {
  const writer = createRowWriter(db);
  const names = { user: openNameChanges(db, "user"), company: openNameChanges(db, "company") };
  const deleteFrom = (table: string) => db.prepare(`DELETE FROM ${table} WHERE id = ?`);
  const removals = {
    role: [deleteFrom("role")],
    achievement: [deleteFrom("achievement")],
    company: [deleteFrom("company")],
    user: [deleteFrom("user"), deleteFrom("private_user")],
  };
  const changed = new Set<string>();
  const deletions: Deletion[] = [];

  /** Takes away whatever has the id; returns whether there was anything. */
  function remove({ type, id }: ChangeLine): boolean {
    if (type === "user" || type === "company") names[type].change(id);
    return removals[type].some((removal) => removal.run(id).changes > 0);
  }

  return {
    parse: parseChange,
    add(line, number) {
      const { type, id } = line;
      const thing = `${type} ${id}`;
      if (changed.has(thing)) {
        return [{ field: "id", reason: `${thing} is in an earlier line already` }];
      }
      changed.add(thing);
      const wasThere = remove(line);
      if ("deleted" in line) {
        if (!wasThere) return [{ field: "id", reason: `there is no ${thing}` }];
        if (type !== "user") deletions.push({ type, id, line: number });
        return [];
      }
      return writer.add(line, number);
    },
    *finish() {
      yield* writer.finish();
      if (deletions.length > 0) yield* listNamed(db, deletions);
      names.user.finish();
      names.company.finish();
    },
  };
}

/** The deletions of what users still name. */
function* listNamed(db: Sqlite, deletions: Deletion[]): Generator<LineError> {
  const naming = {
    role: new Map<number, number[]>(),
    achievement: new Map<number, number[]>(),
    company: new Map<number, number[]>(),
  };
  for (const { type, id } of deletions) naming[type].set(id, []);
  for (const { id, companyId, roles, unlocks } of listReferences(db)) {
    if (companyId !== null) naming.company.get(companyId)?.push(id);
    for (const role of roles) naming.role.get(role)?.push(id);
    for (const { achievementId } of unlocks) naming.achievement.get(achievementId)?.push(id);
  }
  for (const { type, id, line } of deletions) {
    const ids = naming[type].get(id) ?? [];
    if (ids.length === 0) continue;
    const more = ids.length > MAX_REPORTED ? ` and ${ids.length - MAX_REPORTED} more` : "";
    const listed = `user${ids.length > 1 ? "s" : ""} ${ids.slice(0, MAX_REPORTED).join(", ")}${more}`;
    yield { line, field: "id", reason: `${type} ${id} is still named by ${listed}` };
  }
}
