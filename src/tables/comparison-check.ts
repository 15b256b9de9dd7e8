/** Notices that a database compares ids in one way in the table of users, and in another elsewhere. */
import type { RowConverter } from "./row-converter.ts";
import type { Table } from "./table.ts";
import type { Row } from "./table-source.ts";

/** So many ids are enough to show why users are missing. */
const MAX_MISSING = 100;

export class ComparisonCheck {
  /** Some ids in each table that no user in the page has. */
  readonly #missing = new Map<Table, Set<unknown>>();

  /** Notes that a row refers to a user who was not found. */
  note(table: Table, userId: unknown): void {
    const ids = this.#missing.get(table) ?? new Set();
    this.#missing.set(table, ids);
    if (ids.size < MAX_MISSING) ids.add(userId);
  }

  /** Throws if a user who was not found is in the table of users, which has the row `example`. */
  async finish(users: Table, example: Row, { toCells }: RowConverter): Promise<void> {
    for (const [table, ids] of this.#missing) {
      const found = await users.listByIds([...ids], example.id);
      if (found.some((row) => ids.has(toCells(row).id))) throw table.misordered();
    }
  }
}
