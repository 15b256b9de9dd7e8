/**
 * Reads users in pages, each with the rows of roles and achievements of its users. Reports rows that
 * belong to nobody, or are invalid themselves.
 */
import { setImmediate } from "node:timers/promises";
import type { RawRecord } from "../domain/dataset.ts";
import type { FoundError, Item } from "../domain/record-reader.ts";
import { ownedTables } from "./columns.ts";
import { ComparisonCheck } from "./comparison-check.ts";
import { readAhead } from "./read-ahead.ts";
import type { RowConverter } from "./row-converter.ts";
import type { Table, Tables } from "./table.ts";
import type { Row } from "./table-source.ts";
import { UserPage } from "./user-page.ts";
import { validateUnlock } from "./validate-unlock.ts";

/** The ids of the roles and achievements. */
type KnownIds = Record<"role" | "achievement", ReadonlySet<unknown>>;

/** How many rows of these tables to add at a time, which takes about a millisecond. */
const SLICE = 500;
/** How many steps to request before the one that is used. */
const AHEAD = 2;

type Step =
  /** Rows of what the users of a page have. Without a page, they belong to nobody. */
  | { kind: "rows"; table: Table; rows: Row[]; page: UserPage | undefined }
  /** A page of users that has all its rows. */
  | { kind: "page"; page: UserPage };

export class UserReader {
  readonly #tables: Tables;
  readonly #converter: RowConverter;
  readonly #known: KnownIds;
  readonly #check = new ComparisonCheck();
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
      if (step.kind === "page") yield step.page.finish();
      else yield* this.#addRows(step.page, step.table, step.rows);
    }

    if (users && this.#lastUser) {
      await this.#check.finish(users, this.#lastUser, this.#converter);
    }
  }

  async *#steps(users: Table | undefined): AsyncGenerator<Step> {
    for await (const rows of users?.pages() ?? []) {
      const page = new UserPage(this.#converter.toRecords("user", rows));
      const after = this.#lastUser;
      this.#lastUser = rows.at(-1);
      yield* this.#ownedRows(page, after, this.#lastUser);
      yield { kind: "page", page };
    }
    yield* this.#ownedRows(undefined, this.#lastUser, undefined);
  }

  /** Reads the rows of the users after one and up to another. */
  async *#ownedRows(
    page: UserPage | undefined,
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
  async *#addRows(page: UserPage | undefined, table: Table, rows: Row[]): AsyncGenerator<Item[]> {
    for (let at = 0; at < rows.length; at += SLICE) {
      // Lets the database's client receive a reply and send the next query.
      await setImmediate();
      yield rows.slice(at, at + SLICE).flatMap((row) => {
        const errors = this.#addRow(page, table, this.#converter.toCells(row));
        return errors.map((error) => this.#converter.toProblem(table.name, row, error));
      });
    }
  }

  #addRow(page: UserPage | undefined, table: Table, cells: RawRecord): FoundError[] {
    const { user_id, role_id, achievement_id, ...reached } = cells;
    const owner = page?.find(user_id);
    if (!owner) return [this.#explainOwner(table, user_id)];
    // Nothing about a private user is checked.
    if (!owner.isPublic) return [];

    if (table.name === "user_roles") {
      if (!owner.isRepeated && !this.#known.role.has(role_id)) {
        return [this.#converter.explainMissing("role", role_id)];
      }
      owner.addRole(role_id);
      return [];
    }

    if (!owner.isRepeated && !this.#known.achievement.has(achievement_id)) {
      return [this.#converter.explainMissing("achievement", achievement_id)];
    }
    const unlock = { id: achievement_id, ...reached };
    const errors = validateUnlock(unlock);
    if (errors.length === 0) owner.addUnlock(unlock);
    if (errors.length === 0 || !owner.isRepeated) return errors;

    owner.addInvalidUnlock(unlock);
    return [];
  }

  #explainOwner(table: Table, userId: unknown): FoundError {
    const error = this.#converter.explainMissing("user", userId);
    if (error.missing) this.#check.note(table, userId);
    return error;
  }
}
