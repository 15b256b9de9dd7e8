/**
 * Carries change lines out on the rows of a snapshot and on its name index, and holds them to what is
 * there in the end: a reference leads somewhere, and nothing goes that others still name.
 */
import type {
  ChangeLine,
  DatasetLine,
  DeletionLine,
  ValidationError,
} from "../../domain/dataset.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { openNameChanges } from "../name-index/change.ts";
import type { LineError, LineHandler } from "./dataset.ts";
import { createRowWriter, listReferences, type Referenced } from "./rows.ts";

/** Of the users that name a thing which is to go, this many are reported. */
const MAX_REPORTED = 5;

interface Deletion {
  type: Referenced;
  id: number;
  line: number;
}

export function createRowChanger(db: Sqlite): Omit<LineHandler<ChangeLine>, "parse"> {
  const writer = createRowWriter(db);
  const users = openNameChanges(db, "user");
  const companies = openNameChanges(db, "company");
  const changed = {
    role: new Set<number>(),
    achievement: new Set<number>(),
    company: new Set<number>(),
    user: new Set<number>(),
  };
  const deletions: Deletion[] = [];
  const removals = {
    role: [db.prepare("DELETE FROM role WHERE id = ?")],
    achievement: [db.prepare("DELETE FROM achievement WHERE id = ?")],
    company: [db.prepare("DELETE FROM company WHERE id = ?")],
    user: ["user WHERE id", "private_user WHERE id"].map((from) =>
      db.prepare(`DELETE FROM ${from} = ?`),
    ),
  };

  /** Takes away whatever has the id; returns whether there was anything. */
  function remove({ type, id }: Pick<ChangeLine, "type" | "id">): boolean {
    if (type === "user") users.change(id);
    if (type === "company") companies.change(id);
    return removals[type].reduce((sum, removal) => sum + removal.run(id), 0) > 0;
  }

  function deleteThing({ type, id }: DeletionLine, line: number): ValidationError[] {
    if (!remove({ type, id })) return [{ field: "id", reason: `there is no ${type} ${id}` }];
    if (type !== "user") deletions.push({ type, id, line });
    return [];
  }

  function replaceThing(line: DatasetLine, number: number): ValidationError[] {
    remove(line);
    return writer.add(line, number);
  }

  return {
    add(line, number) {
      const { type, id } = line;
      if (changed[type].has(id)) {
        return [{ field: "id", reason: `${type} ${id} is in an earlier line already` }];
      }
      changed[type].add(id);
      return "deleted" in line ? deleteThing(line, number) : replaceThing(line, number);
    },
    *finish() {
      yield* writer.finish();
      if (deletions.length > 0) yield* listNamed(db, deletions);
      users.finish();
      companies.finish();
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
