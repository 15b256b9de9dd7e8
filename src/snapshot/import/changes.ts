/**
 * Applies the lines of a change file to a snapshot's rows and name index. References are checked
 * after the last line, so a record may be deleted before or after its last reference is removed.
 */
import { type Column, eq, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type ChangeLine, validateChange } from "../../domain/dataset.ts";
import type { Database } from "../../sqlite/driver.ts";
import {
  achievement,
  company,
  type NameKind,
  privateUser,
  role,
  type Unlock,
  user,
} from "../format/schema.ts";
import { NameChanges } from "../name-index/change.ts";
import type { FinalError } from "./line-errors.ts";
import type { LineHandler } from "./read-dataset.ts";
import { nameCompanies, type Referenced, RowWriter } from "./rows.ts";

/** The maximum number of users to list in an error about deleting a referenced record. */
const MAX_REPORTED = 5;

interface Deletion {
  type: Referenced;
  id: number;
  line: number;
}

export function createRowChanger(db: Database) {
  const writer = new RowWriter(db);
  const names = {
    user: new NameChanges(db.$client, "user"),
    company: new NameChanges(db.$client, "company"),
  };
  const removals = {
    role: [prepareDeletion(db, role)],
    achievement: [prepareDeletion(db, achievement)],
    company: [prepareDeletion(db, company)],
    user: [prepareDeletion(db, user), prepareDeletion(db, privateUser)],
  };
  /** The line number of each change, keyed by type and id. */
  const lineOf = new Map<string, number>();
  const deletions: Deletion[] = [];
  /** The ids of the changed companies, whose names are also stored in their members' rows. */
  const companies: number[] = [];

  const handler: LineHandler<ChangeLine> = {
    validate: validateChange,

    add(line, number) {
      const { type, id } = line;
      const key = `${type} ${id}`;
      const first = lineOf.get(key);
      if (first !== undefined) {
        const reason = `duplicate ${type} id ${id} (first on line ${first})`;
        return [{ field: "id", reason, kind: "duplicate id" }];
      }
      lineOf.set(key, number);
      if (type === "achievement") writer.checkAllUsers();
      if (type === "company") companies.push(id);
      if (type === "user" || type === "company") names[type].change(id);
      const existed = removals[type].some((removal) => removal.run({ id }).changes > 0);
      if (!("deleted" in line)) return writer.add(line, number);
      if (existed && type !== "user") deletions.push({ type, id, line: number });
      return [];
    },

    *finish() {
      yield* writer.finish();
      if (deletions.length > 0) yield* listReferenced(db, deletions);
      if (companies.length === 0) return;
      // Scans all users, because the column has no index.
      const ids = JSON.stringify(companies);
      nameCompanies(db, sql`${user.companyId} IN (SELECT value FROM json_each(${ids}))`);
    },
  };

  return {
    handler,

    /** Changes the name indexes after the last line, and returns those that must be rebuilt. */
    finishNames: (): NameKind[] =>
      (["user", "company"] as const).filter((kind) => !names[kind].finish()),

    /**
     * Narrows down which users can have the most points after the changes: the users in `before`,
     * who had the most points until now, and the changed users. Returns undefined if the changes
     * include an achievement or a user in `before`, because then every user is a candidate.
     */
    listFeaturedCandidates(before: readonly number[]): number[] | undefined {
      if (before.some((id) => lineOf.has(`user ${id}`))) return undefined;
      const candidates = [...before];
      for (const key of lineOf.keys()) {
        const [type, id] = key.split(" ");
        if (type === "achievement") return undefined;
        if (type === "user") candidates.push(Number(id));
      }
      return candidates;
    },
  };
}

function prepareDeletion<Table extends SQLiteTable & { id: Column }>(db: Database, table: Table) {
  return db
    .delete(table)
    .where(eq(table.id, sql.placeholder("id")))
    .prepare();
}

/** Yields an error for each deleted record that is still referenced by a user. */
function* listReferenced(db: Database, deletions: Deletion[]): Generator<FinalError> {
  const users = {
    role: new Map<number, number[]>(),
    achievement: new Map<number, number[]>(),
    company: new Map<number, number[]>(),
  };
  for (const { type, id } of deletions) users[type].set(id, []);
  const rows = db.$client.prepare<
    Record<"id" | "company_id", number> & Record<"roles" | "achievements", string>
  >("SELECT id, company_id, roles, achievements FROM user ORDER BY id");
  for (const { id, company_id, roles, achievements } of rows.iterate()) {
    const unlocks: Unlock[] = JSON.parse(achievements);
    users.company.get(company_id)?.push(id);
    for (const role of JSON.parse(roles)) users.role.get(role)?.push(id);
    for (const [achievement] of unlocks) users.achievement.get(achievement)?.push(id);
  }
  for (const { type, id, line } of deletions) {
    const ids = users[type].get(id) ?? [];
    if (ids.length === 0) continue;
    const more = ids.length > MAX_REPORTED ? ` and ${ids.length - MAX_REPORTED} more` : "";
    const listed = `user${ids.length > 1 ? "s" : ""} ${ids.slice(0, MAX_REPORTED).join(", ")}${more}`;
    const kind = "is still referenced";
    yield { line, field: "id", reason: `${type} ${id} ${kind} by ${listed}`, kind };
  }
}
