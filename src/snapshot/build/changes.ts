/**
 * Carries change lines out on the rows of a snapshot and on its name index, and holds them to what is
 * there in the end: a reference leads somewhere, and nothing goes that others still name.
 */

import { type Column, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type ChangeLine, parseChange } from "../../domain/dataset.ts";
import type { Database } from "../../sqlite/driver.ts";
import {
  achievement,
  company,
  type NameKind,
  privateUser,
  role,
  user,
  userName,
} from "../format/schema.ts";
import { NameChanges } from "../name-index/change.ts";
import type { LineHandler } from "./dataset.ts";
import type { LineError } from "./line-errors.ts";
import { createRowWriter, listReferences, nameCompanies, type Referenced } from "./rows.ts";

/** How many of the users that refer to a deleted record are reported. */
const MAX_REPORTED = 5;

type Deletion = { type: Referenced; id: number; line: number };

export function createRowChanger(db: Database) {
  const writer = createRowWriter(db);
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
  /** The line of each change. */
  const changed = new Map<string, number>();
  const deletions: Deletion[] = [];
  /** Companies whose names may have changed, and with them the rows of their members. */
  const companies: number[] = [];
  let staleIndexes: NameKind[] = [];

  /** Takes away whatever has the id; returns whether there was anything. */
  function remove({ type, id }: ChangeLine): boolean {
    if (type === "user" || type === "company") names[type].change(id);
    return removals[type].some((removal) => removal.run({ id }).changes > 0);
  }

  return {
    parse: parseChange,
    /** The name indexes that must be built again. */
    staleIndexes: () => staleIndexes,
    /**
     * The only users who may have the most points, given those who had before the changes. Undefined if
     * anybody may: one of those has changed, or an achievement, whose points may have.
     */
    listFeaturedCandidates(before: readonly number[]): number[] | undefined {
      const things = [...changed.keys()];
      const isOpen = before.some((id) => changed.has(`user ${id}`));
      if (isOpen || things.some((thing) => thing.startsWith("achievement "))) return undefined;
      const users = things.filter((thing) => thing.startsWith("user "));
      return [...before, ...users.map((thing) => Number(thing.slice("user ".length)))];
    },
    add(line, number) {
      const { type, id } = line;
      const thing = `${type} ${id}`;
      const first = changed.get(thing);
      if (first !== undefined) {
        const reason = `duplicate id ${id}, first on line ${first}`;
        return [{ field: "id", reason, kind: "duplicate id" }];
      }
      changed.set(thing, number);
      if (type === "company") companies.push(id);
      const wasThere = remove(line);
      if ("deleted" in line) {
        if (wasThere && type !== "user") deletions.push({ type, id, line: number });
        return [];
      }
      return writer.add(line, number);
    },
    *finish() {
      yield* writer.finish();
      if (deletions.length > 0) yield* listNamed(db, deletions);
      if (companies.length > 0) nameCompanies(db, isMemberOf(companies));
      staleIndexes = (["user", "company"] as const).filter((kind) => !names[kind].finish());
      if (companies.length > 0) nameCompaniesInHits(db, isMemberOf(companies));
    },
  } satisfies LineHandler<ChangeLine> & Record<string, unknown>;
}

function prepareDeletion<Table extends SQLiteTable & { id: Column }>(db: Database, table: Table) {
  return db
    .delete(table)
    .where(eq(table.id, sql.placeholder("id")))
    .prepare();
}

/** The users of these companies; to look at a million users takes a second. */
function isMemberOf(companies: number[]): SQL {
  return sql`${user.companyId} IN (SELECT value FROM json_each(${JSON.stringify(companies)}))`;
}

/** Gives the search results of these users the names of their companies as they are now. */
function nameCompaniesInHits(db: Database, which: SQL): void {
  const name = db.select({ name: user.companyName }).from(user).where(eq(user.id, userName.id));
  const members = db.select({ id: user.id }).from(user).where(which);
  db.update(userName)
    .set({ companyName: sql`(${name})` })
    .where(inArray(userName.id, members))
    .run();
}

/** The deletions of what users still name. */
function* listNamed(db: Database, deletions: Deletion[]): Generator<LineError> {
  const naming = {
    role: new Map<number, number[]>(),
    achievement: new Map<number, number[]>(),
    company: new Map<number, number[]>(),
  };
  for (const { type, id } of deletions) naming[type].set(id, []);
  for (const { id, company, roles, achievements } of listReferences(db)) {
    if (company !== null) naming.company.get(company)?.push(id);
    for (const role of roles) naming.role.get(role)?.push(id);
    for (const achievement of achievements) naming.achievement.get(achievement)?.push(id);
  }
  for (const { type, id, line } of deletions) {
    const ids = naming[type].get(id) ?? [];
    if (ids.length === 0) continue;
    const more = ids.length > MAX_REPORTED ? ` and ${ids.length - MAX_REPORTED} more` : "";
    const listed = `user${ids.length > 1 ? "s" : ""} ${ids.slice(0, MAX_REPORTED).join(", ")}${more}`;
    const kind = "is still referenced";
    yield { line, field: "id", reason: `${type} ${id} ${kind} by ${listed}`, kind };
  }
}
