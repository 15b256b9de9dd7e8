/** Merges the rows of the roles and achievements of users into the records of a page of users. */
import type { RawRecord } from "../domain/dataset.ts";
import { type Item, recordsOf } from "../domain/record-reader.ts";
import { parseTime } from "../domain/time.ts";

export class UserPage {
  readonly #items: readonly Item[];
  readonly #owners = new Map<unknown, Owner>();

  /** The items are the records of users, and errors. */
  constructor(items: readonly Item[]) {
    this.#items = items;
    for (const record of recordsOf(items)) {
      // If an id is repeated, the first row counts.
      const first = this.#owners.get(record.id);
      if (first) first.isRepeated = true;
      else this.#owners.set(record.id, new Owner(record));
    }
  }

  find(userId: unknown): Owner | undefined {
    return this.#owners.get(userId);
  }

  /** Returns the items, in which the users have the roles and achievements that were added. */
  finish(): readonly Item[] {
    for (const owner of this.#owners.values()) owner.finish();
    return this.#items;
  }
}

/** A user of the page. */
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
  addUnlock(unlock: RawRecord): void {
    this.#unlocks ??= new Map();
    const other = this.#unlocks.get(unlock.id);
    if (!other || isBetter(unlock, other)) this.#unlocks.set(unlock.id, unlock);
  }

  addInvalidUnlock(unlock: RawRecord): void {
    this.#unlocks ??= new Map();
    this.#unlocks.set(unlock, unlock);
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
