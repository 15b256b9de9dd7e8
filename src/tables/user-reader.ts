/**
 * Reads users with their roles and achievements, which are rows of other tables. All tables are read in the
 * order of the users' ids, so only a few pages are in memory. Reports rows that belong to
 * nobody or are invalid.
 */
import { type Static, Type } from "@sinclair/typebox";
import { UnlockedAchievement } from "../domain/model.ts";
import type { Item, Problem, RawRecord, RecordItem, RecordType } from "../domain/records.ts";
import { parseTime } from "../domain/time.ts";
import { shapeFor } from "../domain/validate-record.ts";
import { InvalidCell, listErrors, mustBeId, mustExist } from "../domain/validation-errors.ts";
import { type Cells, ownedTables, toCells } from "./columns.ts";
import type { Companies } from "./companies.ts";
import { type Row, type Table, type Tables, toItems, toProblem } from "./table.ts";

/** The ids of the roles and achievements. */
type KnownIds = Record<"role" | "achievement", ReadonlySet<unknown>>;

/** How many ids of a table to look for at the end, because the pages had no users with them. */
const MAX_MISSING = 100;

/** How far a user has come with an achievement. */
const Reached = Type.Omit(UnlockedAchievement, ["id"]);
/** A row of user_achievements. The id of the achievement may be a key. */
type UnlockRow = Static<typeof Reached> & { id: unknown };

/** The roles and achievements of a user. */
interface Belongings {
  isPublic: boolean;
  roles?: Set<unknown>;
  /** By the id of the achievement. */
  unlocks?: Map<unknown, UnlockRow>;
}

/** The users of a page by their ids. */
type Owners = ReadonlyMap<unknown, Belongings>;

/** Yields the users of each page with all that they have, after the errors in the rows that say so. */
export async function* readUsers(
  tables: Tables,
  known: KnownIds,
  companies: Companies,
): AsyncGenerator<readonly Item[]> {
  const users = tables.get("users");
  const owned = ownedTables.flatMap((name) => tables.get(name) ?? []);
  /** Some ids in each table that no user has. */
  const unowned = new Map(owned.map((table) => [table, new Set<number | string>()]));

  /** Adds the rows whose users come after one id and not after another. Yields the errors in them. */
  async function* addRows(owners: Owners, after: unknown, upTo?: unknown) {
    for (const [table, ids] of unowned) {
      for await (const rows of table.pages(after, upTo)) {
        yield rows.flatMap((row) => {
          const errors = addRow(table, row, owners, known);
          for (const { missing } of errors) {
            if (missing?.type === "user" && ids.size < MAX_MISSING) ids.add(missing.id);
          }
          return errors.map((error) => toProblem(table, row, error));
        });
      }
    }
  }

  /** The id of the last user so far. */
  let last: unknown;
  if (users) {
    for await (const rows of users.pages()) {
      const items = toItems(users, rows, (cells) => toUser(cells, companies));
      const owners = new Map<unknown, Belongings>();
      for (const item of items) {
        // It does not matter which one of several users with the same id, because that is an error.
        if ("record" in item) owners.set(item.record.id, { isPublic: item.record.public === true });
      }
      const upTo = rows.at(-1)?.id;
      yield* addRows(owners, last, upTo);
      yield items.map((item) => ("record" in item ? withBelongings(item, owners) : item));
      last = upTo;
    }
  }
  yield* addRows(new Map(), last);

  for (const [table, ids] of unowned) {
    if (ids.size > 0 && (await users?.hasAny([...ids]))) throw table.misordered();
  }
}

/** Adds a row to the user whom it names. Returns what is wrong with the row. */
function addRow(table: Table, row: Row, owners: Owners, known: KnownIds): readonly Problem[] {
  const { user_id, role_id, achievement_id, ...reached } = toCells(row, table.format);
  const owner = owners.get(user_id);
  if (!owner) return [explainMissing(table, "user", user_id)];
  // Nothing about a private user is checked.
  if (!owner.isPublic) return [];

  const isRole = table.name === "user_roles";
  const type = isRole ? "role" : "achievement";
  const id = isRole ? role_id : achievement_id;
  if (!known[type].has(id)) return [explainMissing(table, type, id)];
  if (isRole) {
    owner.roles ??= new Set();
    owner.roles.add(id);
    return [];
  }

  const shape = shapeFor(Reached);
  if (!shape.Check(reached)) return listErrors(shape.Errors(reached), false);
  addUnlock(owner, { id, ...reached });
  return [];
}

/** Returns the error for a reference to a record that does not exist. */
function explainMissing({ format }: Table, type: RecordType, id: unknown): Problem {
  const field = `${type}_id`;
  return format.ids.isId(id) ? mustExist(field, type, id) : mustBeId(field, id);
}

/** The highest tier of an achievement counts, then the earliest time. */
function addUnlock(owner: Belongings, unlock: UnlockRow): void {
  owner.unlocks ??= new Map();
  const other = owner.unlocks.get(unlock.id);
  if (!other || isBetter(unlock, other)) owner.unlocks.set(unlock.id, unlock);
}

function isBetter(unlock: UnlockRow, other: UnlockRow): boolean {
  const lead = unlock.tier - other.tier;
  return lead > 0 || (lead === 0 && secondsOf(unlock) < secondsOf(other));
}

function secondsOf({ unlocked_at }: UnlockRow): number {
  return parseTime(unlocked_at) ?? 0;
}

/** Returns the record of a user, as far as a row of `users` has it. */
function toUser(cells: Cells, companies: Companies): RawRecord {
  const { company_id, company, company_role = "Member", ...fields } = cells;
  // For a private user, the id is enough.
  if (fields.public === false) return { type: "user", id: fields.id, public: false };

  const id = company === undefined ? company_id : companies.find(company);
  // An invalid name takes the place of the company, so that validation quotes it.
  const isNone = id === undefined || id instanceof InvalidCell;
  return { type: "user", ...fields, company: isNone ? id : { id, role: company_role } };
}

/** Completes a record with the roles and achievements of its user, unless it is a private one. */
function withBelongings(item: RecordItem, owners: Owners): RecordItem {
  const { record } = item;
  const { roles, unlocks } = owners.get(record.id) ?? {};
  if (record.public !== true) return item;
  const achievements = unlocks && [...unlocks.values()];
  return { ...item, record: { ...record, roles: roles && [...roles], achievements } };
}
