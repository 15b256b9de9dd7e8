/**
 * Writes dataset lines as rows, and holds them to each other: an id comes once, and what a line
 * refers to is there in the end, whatever the order of the lines.
 */
import type { DatasetLine, ValidationError } from "../../domain/dataset.ts";
import { parseTime } from "../../domain/time.ts";
import type { PublicUserLine } from "../../domain/user.ts";
import { hasBit, setBit } from "../../search/bits.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import {
  packRoles,
  packUnlocks,
  type Unlock,
  unpackRoles,
  unpackUnlocks,
} from "../format/user-lists.ts";
import type { LineError } from "./dataset.ts";

/**
 * Ids of private users set one of so many bits; those of public users that find none set are not looked up,
 * which of a million takes 0.4 s. What was there before (in `apply`) is removed before it is added anew.
 */
const PRIVATE_BITS = 2 ** 23;

export type Referenced = "role" | "achievement" | "company";

export interface RowWriter {
  /** Writes one line, or nothing of it and returns what is wrong with it. */
  add(line: DatasetLine, number: number): ValidationError[];
  /** After the last line: the references that lead nowhere, in the order of the lines. */
  finish(): Iterable<LineError>;
}

export function createRowWriter(db: Sqlite): RowWriter {
  const insert = (table: string, columns: number) =>
    db.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${Array(columns).fill("?").join(", ")})`);
  const addRole = insert("role", 3);
  const addAchievement = insert("achievement", 7);
  const addCompany = insert("company", 3);
  const addUser = insert("user", 8);
  const addPrivateUser = insert("private_user", 1);
  const hasUser = db.prepare("SELECT 1 FROM user WHERE id = ?");
  const hasPrivateUser = db.prepare("SELECT 1 FROM private_user WHERE id = ?");

  const privateBits = new Uint32Array(PRIVATE_BITS / 32);
  const mayBePrivate = (id: number) => hasBit(privateBits, id % PRIVATE_BITS);

  // References to what has not come yet wait on disk: in the worst order that is all of them. Not in
  // a temporary table, whose file is in a folder that nobody sweeps.
  db.exec("CREATE TABLE pending (line INTEGER, field TEXT, type TEXT, id INTEGER)");
  const addPending = db.prepare("INSERT INTO pending VALUES (?, ?, ?, ?)");
  const known = {
    role: new Set<number>(),
    achievement: new Set<number>(),
    company: new Set<number>(),
  };

  function refer(type: Referenced, id: number, field: string, number: number): void {
    if (!known[type].has(id)) addPending.run(number, field, type, id);
  }

  function addPublicUser(line: PublicUserLine, number: number): ValidationError[] {
    const { id, name, company, roles = [], achievements = [] } = line;
    if (mayBePrivate(id) && hasPrivateUser.get(id)) return [repeated("user", id)];
    const added = addUser.run(
      id,
      name,
      line.avatar_url ?? null,
      parseTime(line.created_at) ?? 0,
      company?.id ?? null,
      company?.role ?? null,
      packRoles(roles),
      packUnlocks(
        achievements.map(({ id: achievementId, tier, unlocked_at }) => ({
          achievementId,
          tier,
          unlockedAt: parseTime(unlocked_at) ?? 0,
        })),
      ),
    );
    if (added === 0) return [repeated("user", id)];
    if (company) refer("company", company.id, "company.id", number);
    roles.forEach((roleId, index) => {
      refer("role", roleId, `roles[${index}]`, number);
    });
    achievements.forEach(({ id: achievementId }, index) => {
      refer("achievement", achievementId, `achievements[${index}].id`, number);
    });
    return [];
  }

  return {
    add(line, number) {
      const { type, id } = line;
      if (type === "user") {
        if (line.public) return addPublicUser(line, number);
        setBit(privateBits, id % PRIVATE_BITS);
        return hasUser.get(id) || addPrivateUser.run(id) === 0 ? [repeated(type, id)] : [];
      }
      known[type].add(id);
      const added =
        type === "role"
          ? addRole.run(id, line.name, line.hierarchy)
          : type === "company"
            ? addCompany.run(id, line.name, line.member_count)
            : addAchievement.run(
                id,
                line.name,
                line.description,
                line.icon,
                line.kind,
                line.tier,
                line.points,
              );
      return added === 0 ? [repeated(type, id)] : [];
    },
    *finish() {
      const rows = db.prepare<{ line: number; field: string; type: Referenced; id: number }>(
        `SELECT line, field, type, id FROM pending
          WHERE NOT CASE type
                  WHEN 'role' THEN EXISTS (SELECT 1 FROM role WHERE role.id = pending.id)
                  WHEN 'company' THEN EXISTS (SELECT 1 FROM company WHERE company.id = pending.id)
                  ELSE EXISTS (SELECT 1 FROM achievement WHERE achievement.id = pending.id) END
          ORDER BY line, rowid`,
      );
      for (const { line, field, type, id } of rows.iterate()) {
        yield { line, field, reason: `there is no ${type} ${id}` };
      }
      db.exec("DROP TABLE pending");
    },
  };
}

/** What the row of a public user refers to. */
export interface References {
  id: number;
  companyId: number | null;
  roles: number[];
  unlocks: Unlock[];
}

/** Of every public user, in the order of the ids; a million take a second. */
export function* listReferences(db: Sqlite): Generator<References> {
  const rows = db.prepare<{
    id: number;
    company_id: number | null;
    roles: Uint8Array | null;
    achievements: Uint8Array | null;
  }>("SELECT id, company_id, roles, achievements FROM user ORDER BY id");
  for (const { id, company_id, roles, achievements } of rows.iterate()) {
    yield {
      id,
      companyId: company_id,
      roles: unpackRoles(roles),
      unlocks: unpackUnlocks(achievements),
    };
  }
}

function repeated(type: string, id: number): ValidationError {
  return { field: "id", reason: `${type} ${id} is there already` };
}
