/** Keeps what is valid of an invalid user, for `import --skip-invalid`. */
import type { Static, TSchema } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import type { RawRecord } from "./dataset.ts";
import { Id, MAX_ROLES, PublicUserLine, UnlockedAchievement } from "./model.ts";
import { InvalidRecord, validateRecord } from "./validate-record.ts";

/**
 * Drops the invalid avatar, company, roles and achievements of a public user. Returns undefined if
 * anything else is invalid, or if the record is not a public user's.
 */
export function salvageUser({ value }: InvalidRecord): PublicUserLine | undefined {
  if (value.type !== "user") return undefined;
  const { properties } = PublicUserLine;
  const { avatar_url, company, roles, achievements } = value;
  const kept: RawRecord = {
    ...value,
    avatar_url: Check(properties.avatar_url, avatar_url) ? avatar_url : null,
    company: Check(properties.company, company) ? company : null,
    roles: listValid(roles, Id, (id) => id).slice(0, MAX_ROLES),
    achievements: listValid(achievements, UnlockedAchievement, ({ id }) => id),
  };
  const record = validateRecord(kept);
  if (record instanceof InvalidRecord || record.type !== "user") return undefined;
  return record.public ? record : undefined;
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
