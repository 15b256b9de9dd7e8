/**
 * Reads users in pages, each with the rows of roles and achievements of its users. Reports rows that
 * belong to nobody, or are invalid themselves.
 */
import { setImmediate } from "node:timers/promises";
import type { RawRecord } from "../domain/dataset.ts";
import type { FoundError, Item } from "../domain/record-reader.ts";
import { validateUnlock } from "../domain/validate-unlock.ts";
import { type OwnedTable, ownedTables, type TableName } from "./columns.ts";
import { ComparisonCheck } from "./comparison-check.ts";
import { UserPage } from "./merge-user-rows.ts";
import type { RowConverter } from "./row-converter.ts";
import type { Table } from "./table.ts";
import type { Row } from "./table-source.ts";

/** The ids of the roles and achievements. */
type KnownIds = Record<"role" | "achievement", ReadonlySet<unknown>>;

/** How many rows of these tables to add at a time, which takes about a millisecond. */
const SLICE = 500;
/** How many pages to request before the one that is used. */
const AHEAD = 2;

export class UserReader {
  readonly #tables: ReadonlyMap<TableName, Table>;
  readonly #converter: RowConverter;
  readonly #known: KnownIds;
  readonly #check = new ComparisonCheck();
  #lastUser: Row | undefined;

  constructor(tables: ReadonlyMap<TableName, Table>, converter: RowConverter, known: KnownIds) {
    this.#tables = tables;
    this.#converter = converter;
    this.#known = known;
  }

  /** Yields each page of users when all that they have has been added. */
  async *read(): AsyncGenerator<readonly Item[]> {
    let page = new UserPage([]);
    // A database server works on the next pages meanwhile.
    for await (const { table, rows } of readAhead(this.#pages())) {
      if (table === "users") {
        yield page.finish();
        page = new UserPage(this.#converter.toRecords("user", rows));
      } else {
        yield* this.#addRows(page, table, rows);
      }
    }
    await this.#check.finish(this.#tables, this.#lastUser, this.#converter);
  }

  /** Yields each page of users before the rows of what they have, and at last the rows of nobody. */
  async *#pages(): AsyncGenerator<{ table: "users" | OwnedTable; rows: Row[] }> {
    for await (const rows of this.#tables.get("users")?.pages() ?? []) {
      yield { table: "users", rows };
      yield* this.#ownedPages(this.#lastUser, rows.at(-1));
      this.#lastUser = rows.at(-1);
    }
    yield { table: "users", rows: [] };
    yield* this.#ownedPages(this.#lastUser);
  }

  async *#ownedPages(after: Row | undefined, upTo?: Row) {
    for (const table of ownedTables) {
      const pages = this.#tables.get(table)?.pages(after, upTo) ?? [];
      for await (const rows of pages) yield { table, rows };
    }
  }

  /** Yields the errors in the rows. */
  async *#addRows(page: UserPage, table: OwnedTable, rows: Row[]): AsyncGenerator<Item[]> {
    for (let at = 0; at < rows.length; at += SLICE) {
      // Lets the database's client receive a reply and send the next query.
      await setImmediate();
      yield rows.slice(at, at + SLICE).flatMap((row) => {
        const errors = this.#addRow(page, table, this.#converter.toCells(row));
        return errors.map((error) => this.#converter.toProblem(table, row, error));
      });
    }
  }

  #addRow(page: UserPage, table: OwnedTable, cells: RawRecord): FoundError[] {
    const { user_id, role_id, achievement_id, ...reached } = cells;
    const owner = page.find(user_id);
    if (!owner) return [this.#explainOwner(table, user_id)];
    // Nothing about a private user is checked.
    if (!owner.isPublic) return [];

    if (table === "user_roles") {
      if (!this.#known.role.has(role_id)) return [this.#converter.explainMissing("role", role_id)];
      owner.addRole(role_id);
      return [];
    }

    if (!this.#known.achievement.has(achievement_id)) {
      return [this.#converter.explainMissing("achievement", achievement_id)];
    }
    const unlock = { id: achievement_id, ...reached };
    const errors = validateUnlock(unlock);
    if (errors.length === 0) owner.addUnlock(unlock);
    return errors;
  }

  #explainOwner(table: OwnedTable, userId: unknown): FoundError {
    const error = this.#converter.explainMissing("user", userId);
    if (error.missing) this.#check.note(table, userId);
    return error;
  }
}

/** Requests some items ahead of the one that is used. */
async function* readAhead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  const requested: Promise<IteratorResult<T>>[] = [];
  const request = () => {
    const next = items.next();
    // An error is thrown where the item is awaited.
    next.catch(() => {});
    requested.push(next);
  };

  for (let count = 0; count < AHEAD; count++) request();
  for (;;) {
    const result = await requested.shift();
    if (!result || result.done) return;
    request();
    yield result.value;
  }
}
