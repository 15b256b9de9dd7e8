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
import { createRowWriter, type Referenced } from "./rows.ts";

/** Of the users that name a thing which is to go, this many are reported. */
const MAX_REPORTED = 5;

/** Where users name things, by the type of the thing. */
const namedIn: Record<Referenced, { table: string; id: string; user: string }> = {
  company: { table: "user", id: "company_id", user: "id" },
  role: { table: "user_role", id: "role_id", user: "user_id" },
  achievement: { table: "user_achievement", id: "achievement_id", user: "user_id" },
};

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
  const deletions: { type: Referenced; id: number; line: number }[] = [];
  const removals = {
    role: [db.prepare("DELETE FROM role WHERE id = ?")],
    achievement: [db.prepare("DELETE FROM achievement WHERE id = ?")],
    company: [db.prepare("DELETE FROM company WHERE id = ?")],
    user: ["user WHERE id", "private_user WHERE id"].map((from) =>
      db.prepare(`DELETE FROM ${from} = ?`),
    ),
  };
  const links = ["user_role", "user_achievement"].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE user_id = ?`),
  );

  /** Takes away whatever has the id; returns whether there was anything. */
  function remove({ type, id }: Pick<ChangeLine, "type" | "id">): boolean {
    if (type === "user") {
      users.remove(id);
      for (const link of links) link.run(id);
    }
    if (type === "company") companies.remove(id);
    return removals[type].reduce((sum, removal) => sum + removal.run(id), 0) > 0;
  }

  function deleteThing({ type, id }: DeletionLine, line: number): ValidationError[] {
    if (!remove({ type, id })) return [{ field: "id", reason: `there is no ${type} ${id}` }];
    if (type !== "user") deletions.push({ type, id, line });
    return [];
  }

  function replaceThing(line: DatasetLine, number: number): ValidationError[] {
    remove(line);
    const errors = writer.add(line, number);
    if (line.type === "company") companies.add(line.id);
    if (line.type === "user" && line.public) users.add(line.id);
    return errors;
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
      for (const deletion of deletions) yield* listNamed(db, deletion);
      users.finish();
      companies.finish();
    },
  };
}

function* listNamed(
  db: Sqlite,
  { type, id, line }: { type: Referenced; id: number; line: number },
): Generator<LineError> {
  const place = namedIn[type];
  const ids = db
    .prepare<{ user: number }>(
      `SELECT ${place.user} AS user FROM ${place.table} WHERE ${place.id} = ? ORDER BY 1`,
    )
    .all(id)
    .map(({ user }) => user);
  if (ids.length === 0) return;
  const more = ids.length > MAX_REPORTED ? ` and ${ids.length - MAX_REPORTED} more` : "";
  const listed = `user${ids.length > 1 ? "s" : ""} ${ids.slice(0, MAX_REPORTED).join(", ")}${more}`;
  yield { line, field: "id", reason: `${type} ${id} is still named by ${listed}` };
}
