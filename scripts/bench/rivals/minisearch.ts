/** MiniSearch, in memory: finds words by their beginning, nothing inside them. A kilobyte a name. */
import MiniSearch from "minisearch";
import { fold } from "../../../src/search/fold.ts";
import { type Rival, readNames } from "./sqlite.ts";

export function openMiniSearch(snapshot: string): Rival {
  const index = new MiniSearch({ idField: "rank", fields: ["folded"] });
  index.addAll(readNames(snapshot));
  return {
    find: (query) => index.search(fold(query), { prefix: true, combineWith: "AND" }).slice(0, 10),
    close: () => index.removeAll(),
  };
}
