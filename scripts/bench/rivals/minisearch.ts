/** MiniSearch, in memory: finds words by their beginning, nothing inside them. A kilobyte a name. */
import { Database } from "bun:sqlite";
import MiniSearch from "minisearch";
import { fold } from "../../../src/search/fold.ts";
import { NAMES, type Name, type Rival } from "./sqlite.ts";

export function openMiniSearch(snapshot: string): Rival {
  const db = new Database(snapshot, { readonly: true });
  const index = new MiniSearch<Name>({ idField: "rank", fields: ["folded"] });
  for (const row of db.query<Name, []>(NAMES).iterate()) index.add(row);
  db.close();
  return {
    find: (query) => index.search(fold(query), { prefix: true, combineWith: "AND" }).slice(0, 10),
    close: () => index.removeAll(),
  };
}
