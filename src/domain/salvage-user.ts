/** Keeps what is valid of an invalid user, for `import --skip-invalid`. */
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { RawRecord } from "./dataset.ts";
import { Id, MAX_ROLES, PublicUserLine, UnlockedAchievement } from "./model.ts";
import { InvalidRecord, type Shape, validateRecord } from "./validate-record.ts";

const parts = {
  avatar: TypeCompiler.Compile(PublicUserLine.properties.avatar_url),
  company: TypeCompiler.Compile(PublicUserLine.properties.company),
  role: TypeCompiler.Compile(Id),
  achievement: TypeCompiler.Compile(UnlockedAchievement),
};

/**
 * Drops the invalid avatar, company, roles and achievements of a public user. Returns undefined if
 * anything else is invalid, or if the record is not a public user's.
 */
export function salvageUser({ value }: InvalidRecord): PublicUserLine | undefined {
  if (value.type !== "user") return undefined;
  const { avatar_url, company, roles, achievements } = value;
  const kept: RawRecord = {
    ...value,
    avatar_url: parts.avatar.Check(avatar_url) ? avatar_url : null,
    company: parts.company.Check(company) ? company : null,
    roles: listValid(roles, parts.role, (id) => id).slice(0, MAX_ROLES),
    achievements: listValid(achievements, parts.achievement, ({ id }) => id),
  };
  const record = validateRecord(kept);
  if (record instanceof InvalidRecord || record.type !== "user") return undefined;
  return record.public ? record : undefined;
}

/** Returns the valid ones of these items, without duplicates. */
function listValid<Item>(items: unknown, shape: Shape<Item>, idOf: (item: Item) => number): Item[] {
  if (!Array.isArray(items)) return [];
  const seen = new Set<number>();
  return items.filter((item) => {
    if (!shape.Check(item) || seen.has(idOf(item))) return false;
    seen.add(idOf(item));
    return true;
  });
}
