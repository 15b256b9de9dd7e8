/** Notices that a database compares ids in one way in the table of users, and in another elsewhere. */
import { type OwnedTable, ownedTables, type TableName } from "./columns.ts";
import type { RowConverter } from "./row-converter.ts";
import type { Table } from "./table.ts";
import type { Row } from "./table-source.ts";

/** So many ids are enough to show why users are missing. */
const MAX_MISSING = 100;

export class ComparisonCheck {
  /** Some ids in these tables that no user in the page has. */
  readonly #missing: Record<OwnedTable, Set<unknown>> = {
    user_roles: new Set(),
    user_achievements: new Set(),
  };

  /** Notes that a row refers to a user who was not found. */
  note(table: OwnedTable, userId: unknown): void {
    const ids = this.#missing[table];
    if (ids.size < MAX_MISSING) ids.add(userId);
  }

  /** Throws if a user who was not found is in the table of users. */
  async finish(
    tables: ReadonlyMap<TableName, Table>,
    lastUser: Row | undefined,
    { toCells }: RowConverter,
  ): Promise<void> {
    const users = tables.get("users");
    if (!users || !lastUser) return;

    for (const name of ownedTables) {
      const ids = this.#missing[name];
      // An id that the column cannot have is an error for some servers, and that of nobody.
      const found = await users.listByIds([...ids], lastUser.id).catch(() => []);
      if (found.some((row) => ids.has(toCells(row).id))) throw tables.get(name)?.misordered();
    }
  }
}
