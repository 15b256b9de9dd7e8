/**
 * Reads users in pages, each with the rows of roles and achievements of its users. Reports rows that
 * belong to nobody, or are invalid themselves.
 */
import { setImmediate } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { RawRecord } from "../domain/dataset.ts";
import { UnlockedAchievement } from "../domain/model.ts";
import { type FoundError, type Item, recordsOf } from "../domain/record-reader.ts";
import { parseTime } from "../domain/time.ts";
import { listErrors, type ValidationError } from "../domain/validation-errors.ts";
import { ownedTables } from "./columns.ts";
import type { RowConverter } from "./row-converter.ts";
import type { Table, Tables } from "./table.ts";
import type { Row } from "./table-source.ts";

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
  | { kind: "rows"; table: Table; rows: Row[]; page: Page | undefined }
  /** A page of users that has all its rows. */
  | { kind: "page"; page: Page };

export class UserReader {
  readonly #tables: Tables;
  readonly #converter: RowConverter;
  readonly #known: KnownIds;
  /** Some ids in each table that no user in the page has. */
  readonly #missing = new Map<Table, (number | string)[]>();
  /** The last row of users that has been read. */
  #lastUser: Row | undefined;

  constructor(tables: Tables, converter: RowConverter, known: KnownIds) {
    this.#tables = tables;
    this.#converter = converter;
    this.#known = known;
  }

  /** Yields each page of users when all that they have has been added. */
  async *read(): AsyncGenerator<readonly Item[]> {
    const users = this.#tables.get("users");
    for await (const step of readAhead(this.#steps(users), AHEAD)) {
      if (step.kind === "rows") {
        yield* this.#addRows(step.page, step.table, step.rows);
        continue;
      }
      for (const owner of step.page.owners.values()) owner.finish();
      yield step.page.items;
    }

    for (const [table, ids] of this.#missing) {
      if (await users?.hasAny(ids)) throw table.misordered();
    }
  }

  async *#steps(users: Table | undefined): AsyncGenerator<Step> {
    for await (const rows of users?.pages() ?? []) {
      const page = toPage(this.#converter.toRecords("user", rows));
      const after = this.#lastUser;
      this.#lastUser = rows.at(-1);
      yield* this.#ownedRows(page, after, this.#lastUser);
      yield { kind: "page", page };
    }
    yield* this.#ownedRows(undefined, this.#lastUser, undefined);
  }

  /** Reads the rows of the users after one and up to another. */
  async *#ownedRows(
    page: Page | undefined,
    after: Row | undefined,
    upTo: Row | undefined,
  ): AsyncGenerator<Step> {
    for (const name of ownedTables) {
      const table = this.#tables.get(name);
      if (!table) continue;
      for await (const rows of table.pages(after, upTo)) yield { kind: "rows", table, rows, page };
    }
  }

  /** Yields the errors in the rows. */
  async *#addRows(page: Page | undefined, table: Table, rows: Row[]): AsyncGenerator<Item[]> {
    for (let at = 0; at < rows.length; at += SLICE) {
      // Lets the database's client receive a reply and send the next query.
      await setImmediate();
      yield rows.slice(at, at + SLICE).flatMap((row) => {
        const errors = this.#addRow(page, table, this.#converter.toCells(row));
        return errors.map((error) => this.#converter.toProblem(table.name, row, error));
      });
    }
  }

  #addRow(page: Page | undefined, table: Table, cells: RawRecord): FoundError[] {
    const { user_id, role_id, achievement_id, ...reached } = cells;
    const owner = page?.owners.get(user_id);
    if (!owner) return [this.#explainOwner(table, user_id)];
    // Nothing about a private user is checked.
    if (!owner.isPublic) return [];

    const isRole = table.name === "user_roles";
    const unlock = { id: achievement_id, ...reached };
    const errors = isRole
      ? this.#findMissing("role", role_id)
      : (this.#findMissing("achievement", achievement_id) ?? checkUnlock(unlock));
    if (errors && !owner.isRepeated) return errors;

    if (isRole) owner.addRole(role_id);
    else owner.addUnlock(unlock, errors === undefined);
    return [];
  }

  #findMissing(type: "role" | "achievement", id: unknown): FoundError[] | undefined {
    return this.#known[type].has(id) ? undefined : [this.#converter.explainMissing(type, id)];
  }

  #explainOwner(table: Table, userId: unknown): FoundError {
    const error = this.#converter.explainMissing("user", userId);
    if (!error.missing) return error;

    const ids = this.#missing.get(table) ?? [];
    if (ids.length < MAX_MISSING) this.#missing.set(table, [...ids, error.missing.id]);
    return error;
  }
}

function toPage(items: readonly Item[]): Page {
  const owners = new Map<unknown, Owner>();
  for (const record of recordsOf(items)) {
    // If an id is repeated, the first row counts.
    const first = owners.get(record.id);
    if (first) first.isRepeated = true;
    else owners.set(record.id, new Owner(record));
  }
  return { items, owners };
}

/** A user of a page, who gets what other tables have. */
class Owner {
  /** Whether several rows have the id. The record then also gets what is wrong in other tables. */
  isRepeated = false;
  readonly #user: RawRecord;
  #roles: Set<unknown> | undefined;
  /** By the id of the achievement, or for an invalid one, by itself. */
  #unlocks: Map<unknown, RawRecord> | undefined;

  constructor(user: RawRecord) {
    this.#user = user;
  }

  get isPublic(): boolean {
    return this.#user.public === true;
  }

  addRole(id: unknown): void {
    this.#roles ??= new Set();
    this.#roles.add(id);
  }

  /** The highest tier of an achievement counts, then the earliest time. */
  addUnlock(unlock: RawRecord, isValid: boolean): void {
    this.#unlocks ??= new Map();
    const key = isValid ? unlock.id : unlock;
    const other = this.#unlocks.get(key);
    if (!other || isBetter(unlock, other)) this.#unlocks.set(key, unlock);
  }

  finish(): void {
    if (this.#roles) this.#user.roles = [...this.#roles];
    if (this.#unlocks) this.#user.achievements = [...this.#unlocks.values()];
  }
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
