/**
 * Reads users in pages, each with the rows of roles and achievements of its users. Reports rows that
 * belong to nobody, or are invalid themselves.
 */
import { setImmediate } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { FoundError, Item, RawRecord, ValidationError } from "../domain/dataset.ts";
import { UnlockedAchievement } from "../domain/model.ts";
import { parseTime } from "../domain/time.ts";
import { listErrors } from "../domain/validation-errors.ts";
import { ownedTables } from "./columns.ts";
import type { CompanyNames } from "./company-names.ts";
import type { RowConverter } from "./row-converter.ts";
import type { Row, Table, Tables } from "./table.ts";

/** The ids of the roles and achievements. */
type KnownIds = Record<"role" | "achievement", ReadonlySet<unknown>>;

/** How many rows of these tables to add at a time, which takes about a millisecond. */
const SLICE = 500;
/** How many steps to request before the one that is used. */
const AHEAD = 2;
/** So many ids in a table are enough to show why users are missing. */
const MAX_MISSING = 100;

/** A page of users. */
interface Page {
  /** The records of users, and errors. */
  items: readonly Item[];
  owners: ReadonlyMap<unknown, Owner>;
}

type Step =
  /** Rows of what the users of a page have. Without a page, they belong to nobody. */
  | { table: Table; rows: Row[]; page: Page | undefined }
  /** A page of users that has all its rows. */
  | { page: Page };

/** Yields each page of users when all that they have has been added. */
export async function* readUserPages(
  tables: Tables,
  converter: RowConverter,
  known: KnownIds,
  companies: CompanyNames | undefined,
): AsyncGenerator<readonly Item[]> {
  /** Some ids in each table that no user in the page has. */
  const missing = new Map<Table, (number | string)[]>();

  function explainOwner(table: Table, userId: unknown): FoundError {
    const error = converter.explainMissing("user", userId);
    if (!error.missing) return error;

    const ids = missing.get(table) ?? [];
    if (ids.length < MAX_MISSING) missing.set(table, [...ids, error.missing.id]);
    return error;
  }

  function findMissing(type: "role" | "achievement", id: unknown): FoundError[] | undefined {
    return known[type].has(id) ? undefined : [converter.explainMissing(type, id)];
  }

  function addRow(page: Page | undefined, table: Table, cells: RawRecord): FoundError[] {
    const { user_id, role_id, achievement_id, ...reached } = cells;
    const owner = page?.owners.get(user_id);
    if (!owner) return [explainOwner(table, user_id)];
    // Nothing about a private user is checked.
    if (owner.user.public !== true) return [];

    const isRole = table.name === "user_roles";
    const unlock = { id: achievement_id, ...reached };
    const errors = isRole
      ? findMissing("role", role_id)
      : (findMissing("achievement", achievement_id) ?? checkUnlock(unlock));
    if (errors && !owner.isRepeated) return errors;

    if (isRole) owner.roles.add(role_id);
    else addUnlock(owner, unlock, errors === undefined);
    return [];
  }

  for await (const step of readAhead(listSteps(tables, converter, companies), AHEAD)) {
    if (!("rows" in step)) {
      yield finishPage(step.page);
      continue;
    }
    const { page, table, rows } = step;
    for (let at = 0; at < rows.length; at += SLICE) {
      // Lets the database's client receive a reply and send the next query.
      await setImmediate();
      yield rows.slice(at, at + SLICE).flatMap((row) => {
        const errors = addRow(page, table, converter.toCells(row));
        return errors.map((error) => converter.toProblem(table.name, row, error));
      });
    }
  }

  for (const [table, ids] of missing) {
    if (await tables.get("users")?.hasAny(ids)) throw table.misordered();
  }
}

async function* listSteps(
  tables: Tables,
  converter: RowConverter,
  companies: CompanyNames | undefined,
): AsyncGenerator<Step> {
  let last: Row | undefined;
  for await (const rows of tables.get("users")?.pages() ?? []) {
    const page = toPage(converter.toRecords("user", rows, companies));
    yield* listOwned(tables, page, last, rows.at(-1));
    last = rows.at(-1);
    yield { page };
  }
  yield* listOwned(tables, undefined, last, undefined);
}

/** Reads the rows of the users after one and up to another. */
async function* listOwned(
  tables: Tables,
  page: Page | undefined,
  after: Row | undefined,
  upTo: Row | undefined,
): AsyncGenerator<Step> {
  for (const name of ownedTables) {
    const table = tables.get(name);
    if (!table) continue;
    for await (const rows of table.pages(after, upTo)) yield { table, rows, page };
  }
}

function toPage(items: readonly Item[]): Page {
  const owners = new Map<unknown, Owner>();
  for (const item of items) {
    if (!("record" in item)) continue;
    const { record } = item;
    // If an id is repeated, the first row counts.
    const first = owners.get(record.id);
    if (first) first.isRepeated = true;
    else owners.set(record.id, { user: record, isRepeated: false, roles: new Set() });
  }
  return { items, owners };
}

/** A user of a page, who gets what other tables have. */
interface Owner {
  user: RawRecord;
  /** Whether several rows have the id. The record then also gets what is wrong in other tables. */
  isRepeated: boolean;
  roles: Set<unknown>;
  /** By the id of the achievement, or for an invalid one, by itself. Most users have none. */
  unlocks?: Map<unknown, RawRecord>;
}

/** The highest tier of an achievement counts, then the earliest time. */
function addUnlock(owner: Owner, unlock: RawRecord, isValid: boolean): void {
  owner.unlocks ??= new Map();
  const key = isValid ? unlock.id : unlock;
  const other = owner.unlocks.get(key);
  if (!other || isBetter(unlock, other)) owner.unlocks.set(key, unlock);
}

function finishPage({ items, owners }: Page): readonly Item[] {
  for (const { user, roles, unlocks } of owners.values()) {
    if (roles.size > 0) user.roles = [...roles];
    if (unlocks) user.achievements = [...unlocks.values()];
  }
  return items;
}

function isBetter(unlock: RawRecord, other: RawRecord): boolean {
  const lead = Number(unlock.tier) - Number(other.tier);
  return lead > 0 || (lead === 0 && secondsOf(unlock) < secondsOf(other));
}

function secondsOf({ unlocked_at }: RawRecord): number {
  return parseTime(String(unlocked_at)) ?? 0;
}

/** The id may be a key, and is checked with the achievements. */
const unlockShape = TypeCompiler.Compile(
  Type.Object({ ...UnlockedAchievement.properties, id: Type.Unknown() }),
);

/** Returns what is wrong with the tier and the time of a user's achievement, if anything is. */
function checkUnlock(unlock: RawRecord): ValidationError[] | undefined {
  return unlockShape.Check(unlock) ? undefined : listErrors(unlockShape.Errors(unlock), false);
}

/**
 * Requests a number of items before the one that is used, so that a database works on them
 * meanwhile.
 *
 * At the end, also after an error, `items` is closed once it has settled what was requested. That is
 * not awaited, because a database may be silent. Closing its connection settles its replies.
 */
export async function* readAhead<T>(items: AsyncGenerator<T>, ahead: number): AsyncGenerator<T> {
  const requested: Promise<IteratorResult<T>>[] = [];
  const request = () => {
    const next = items.next();
    // An error is thrown where the item is awaited. After the end, it matters to nobody.
    next.catch(() => {});
    requested.push(next);
  };

  try {
    while (requested.length < ahead) request();
    for (;;) {
      const result = await requested.shift();
      if (!result || result.done) return;
      request();
      yield result.value;
    }
  } finally {
    items.return(undefined).catch(() => {});
  }
}
