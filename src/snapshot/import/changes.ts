/**
 * Applies the lines of a change file to a snapshot's rows and name index. References are checked
 * after the last line, so a record may be deleted before or after its last reference is removed.
 */
import { type Column, eq, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type ChangeLine, validateChange } from "../../domain/dataset.ts";
import type { ValidationError } from "../../domain/validation.ts";
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

export class RowChanger implements LineHandler<ChangeLine> {
  readonly validate = validateChange;
  /** The name indexes that must be rebuilt. Set by {@link finish}. */
  staleIndexes: NameKind[] = [];
  private readonly db: Database;
  private readonly writer: RowWriter;
  private readonly names;
  private readonly removals;
  /** The line number of each change, keyed by type and id. */
  private readonly lineOf = new Map<string, number>();
  private readonly deletions: Deletion[] = [];
  /** The ids of the changed companies, whose names are also stored in their members' rows. */
  private readonly companies: number[] = [];

  constructor(db: Database) {
    this.db = db;
    this.writer = new RowWriter(db);
    this.names = {
      user: new NameChanges(db.$client, "user"),
      company: new NameChanges(db.$client, "company"),
    };
    this.removals = {
      role: [prepareDeletion(db, role)],
      achievement: [prepareDeletion(db, achievement)],
      company: [prepareDeletion(db, company)],
      user: [prepareDeletion(db, user), prepareDeletion(db, privateUser)],
    };
  }

  add(line: ChangeLine, number: number): ValidationError[] {
    const { type, id } = line;
    const key = `${type} ${id}`;
    const first = this.lineOf.get(key);
    if (first !== undefined) {
      const reason = `duplicate ${type} id ${id} (first on line ${first})`;
      return [{ field: "id", reason, kind: "duplicate id" }];
    }
    this.lineOf.set(key, number);
    if (type === "company") this.companies.push(id);
    if (type === "achievement") this.writer.checkAllUsers();
    const existed = this.remove(line);
    if (!("deleted" in line)) return this.writer.add(line, number);
    if (existed && type !== "user") this.deletions.push({ type, id, line: number });
    return [];
  }

  *finish(): Generator<FinalError> {
    const { db, companies, deletions, names } = this;
    yield* this.writer.finish();
    if (deletions.length > 0) yield* listReferenced(db, deletions);
    if (companies.length > 0) {
      // Scans all users, because the column has no index.
      const ids = JSON.stringify(companies);
      nameCompanies(db, sql`${user.companyId} IN (SELECT value FROM json_each(${ids}))`);
    }
    this.staleIndexes = (["user", "company"] as const).filter((kind) => !names[kind].finish());
  }

  /**
   * Narrows down which users can have the most points after the changes: the users in `before`, who
   * had the most points until now, and the changed users. Returns undefined if the changes include
   * an achievement or a user in `before`, because then every user is a candidate.
   */
  listFeaturedCandidates(before: readonly number[]): number[] | undefined {
    if (before.some((id) => this.lineOf.has(`user ${id}`))) return undefined;
    const candidates = [...before];
    for (const key of this.lineOf.keys()) {
      const [type, id] = key.split(" ");
      if (type === "achievement") return undefined;
      if (type === "user") candidates.push(Number(id));
    }
    return candidates;
  }

  /** Removes the record with the type and id of a line. Returns whether the record existed. */
  private remove({ type, id }: ChangeLine): boolean {
    if (type === "user" || type === "company") this.names[type].change(id);
    return this.removals[type].some((removal) => removal.run({ id }).changes > 0);
  }
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
