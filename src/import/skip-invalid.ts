/**
 * Handles the records of an import with `--skip-invalid`. ../domain/README.md says what becomes of those
 * that are invalid. If two have the id of a user, nobody knows which is right, so the user becomes private.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { isPublicUser } from "../domain/dataset.ts";
import { Id, MAX_ROLES, PublicUserLine, UnlockedAchievement } from "../domain/model.ts";
import type { RawRecord, ReportProblem } from "../domain/records.ts";
import { identify, validateRecord } from "../domain/validate-record.ts";
import type { Database } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import { createRows, type Outcome, type RecordHandler } from "./write-rows.ts";

export function createSkippingHandler(db: Database, ids: Ids): RecordHandler {
  const rows = createRows(db, ids);

  function take(record: RawRecord, line?: number): Outcome {
    const outcome = rows.take(record, line);
    const known = identify(record);
    if (outcome.isWritten || !known) return outcome;
    if (known.type !== "user") return { ...outcome, consequence: "" };

    const rest = salvageUser(record);
    if (rest && rows.add(rest, line).length === 0) {
      return { ...outcome, isWritten: true, consequence: "; the rest of the user is kept" };
    }
    const madePrivate = rows.hide(known.id);
    return { ...outcome, consequence: "; the user becomes private", madePrivate };
  }

  const complete = (report: ReportProblem) => rows.complete(report, { trims: true });
  return { take, complete };
}

/**
 * Drops the invalid avatar, company, roles and achievements of a public user. Returns undefined if anything
 * else is invalid, or if the user is not public.
 */
function salvageUser(user: RawRecord): PublicUserLine | undefined {
  const { properties } = PublicUserLine;
  const { avatar_url, company, roles, achievements } = user;
  const valid = validateRecord({
    ...user,
    avatar_url: Check(properties.avatar_url, avatar_url) ? avatar_url : null,
    company: Check(properties.company, company) ? company : null,
    roles: listValid(roles, Id, (id) => id).slice(0, MAX_ROLES),
    achievements: listValid(achievements, UnlockedAchievement, ({ id }) => id),
  });
  return !Array.isArray(valid) && isPublicUser(valid) ? valid : undefined;
}

/** Returns the valid ones of these items, without duplicates. */
function listValid<Schema extends TSchema>(
  items: unknown,
  schema: Schema,
  idOf: (item: Static<Schema>) => number,
): Static<Schema>[] {
  if (!Array.isArray(items)) return [];
  const seen = new Set<number>();
  return items.filter((item) => {
    if (!Check(schema, item) || seen.has(idOf(item))) return false;
    seen.add(idOf(item));
    return true;
  });
}
