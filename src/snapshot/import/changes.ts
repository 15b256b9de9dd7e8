/**
 * Applies the lines of a change file to a snapshot's rows and name index. References are checked
 * after the last line, so a record may be deleted before or after its last reference is removed.
 */
import { sql } from "drizzle-orm";
import { type ChangeLine, type RecordKey, validateChange } from "../../domain/dataset.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { type IdMap, idInSource } from "../../tables/id-map.ts";
import { type Unlock, user } from "../format/schema.ts";
import { createForgetting } from "./forget.ts";
import type { LineError } from "./line-errors.ts";
import type { LineHandler } from "./read-dataset.ts";
import { nameCompanies, type Referenced, RowWriter } from "./rows.ts";

interface Deletion {
  type: Referenced;
  id: number;
  line: number;
}

/** `nowMs` is the time of the takedowns among the changes. */
export function createRowChanger(db: Database, nowMs: number, idMap?: IdMap) {
  const writer = new RowWriter(db, idMap);
  const { forget, ...forgetting } = createForgetting(db, nowMs);
  /** The line number of each change, keyed by type and id. */
  const lineOf = new Map<string, number>();
  const deletions: Deletion[] = [];
  const notFound: { type: RecordKey["type"]; id: number | string }[] = [];
  const idsOf = (type: RecordKey["type"]) =>
    [...lineOf.keys()]
      .filter((key) => key.startsWith(type))
      .map((key) => Number(key.split(" ")[1]));

  const handler: LineHandler<ChangeLine> = {
    validate: validateChange,
    idMap,

    add(line, number) {
      const { type, id } = line;
      const key = `${type} ${id}`;
      const first = lineOf.get(key);
      if (first !== undefined) {
        const reason = `duplicate ${type} id ${idInSource(line, idMap)} (first on line ${first})`;
        return [{ field: "id", reason, kind: "duplicate id" }];
      }
      lineOf.set(key, number);
      // A definition may make any user's list too long.
      if (type === "achievement") writer.longestList = Number.POSITIVE_INFINITY;
      const existed = forget(line);
      if (!("deleted" in line)) return writer.add(line, number);
      if (!existed) notFound.push({ type, id: idInSource(line, idMap) });
      else if (type !== "user") deletions.push({ type, id, line: number });
      return [];
    },

    *finish() {
      yield* writer.finish();
      if (deletions.length > 0) yield* listReferenced(db, deletions, idMap);
      const companies = idsOf("company");
      if (companies.length === 0) return;
      // The members' rows hold the names, too. This scans all users, as the column has no index.
      const ids = JSON.stringify(companies);
      nameCompanies(db, sql`${user.company_id} IN (SELECT value FROM json_each(${ids}))`);
    },
  };

  return {
    handler,
    notFound,
    ...forgetting,

    /**
     * Lists the users who can have the most points after the changes: those who had them `before`,
     * and the changed ones. Returns undefined if it can be anyone, because an achievement or a user
     * in `before` has changed.
     */
    listFeaturedCandidates(before: readonly number[]): number[] | undefined {
      const users = idsOf("user");
      const isAnyone = idsOf("achievement").length > 0 || before.some((id) => users.includes(id));
      return isAnyone ? undefined : [...before, ...users];
    },
  };
}

/** Yields an error for each deleted record that is still referenced by a user. */
function* listReferenced(db: Database, deletions: Deletion[], idMap?: IdMap): Generator<LineError> {
  const keyOf = (type: Referenced, id: number) => `${type} ${id}`;
  const deleted = new Set(deletions.map(({ type, id }) => keyOf(type, id)));
  /** The first user that refers to a record. */
  const users = new Map<string, number>();
  const refer = (user: number, type: Referenced, id: number) => {
    const key = keyOf(type, id);
    if (deleted.has(key) && !users.has(key)) users.set(key, user);
  };
  const rows = prepareText(db, db.select().from(user).orderBy(user.id));
  for (const { id, company_id, ...row } of rows.iterate()) {
    const roles: number[] = JSON.parse(row.roles);
    const unlocks: Unlock[] = JSON.parse(row.achievements);
    if (company_id !== null) refer(id, "company", company_id);
    for (const role of roles) refer(id, "role", role);
    for (const [unlocked] of unlocks) refer(id, "achievement", unlocked);
  }
  for (const { type, id, line } of deletions) {
    const user = users.get(keyOf(type, id));
    const kind = "is still referenced";
    if (user === undefined) continue;
    const by = idInSource({ type: "user", id: user }, idMap);
    const reason = `${type} ${idInSource({ type, id }, idMap)} ${kind} by user ${by}`;
    yield { line, field: "id", reason, kind };
  }
}
