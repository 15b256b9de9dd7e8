/** How commands say what is in a snapshot, and what was wrong with the lines they were given. */
import { DatasetError } from "../snapshot/build/dataset.ts";
import type { Counts } from "../snapshot/format/meta.ts";

export function describeCounts(counts: Counts): string {
  return [
    `${counts.users} users (${counts.public_users} public)`,
    `${counts.companies} companies`,
    `${counts.achievements} achievements`,
    `${counts.roles} roles`,
  ].join(", ");
}

/** Runs what reads lines; faults in them become one error that counts and lists them. */
export async function tellFaults<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    const count = error.count === 1 ? "1 error" : `${error.count} errors`;
    throw new Error(`${count} in the ${what}, nothing was written\n${error.message}`);
  }
}
