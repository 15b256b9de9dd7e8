/** Times queries that are known to be slow, on names that are contrived to make them slow. */
import { join } from "node:path";
import { sqlite } from "#sqlite";
import { createSchema } from "../../src/snapshot/format/schema.ts";
import { buildNameIndex } from "../../src/snapshot/name-index/build.ts";
import { NameSearch } from "../../src/snapshot/name-index/find.ts";
import { fillNames, type SimilarNames, similarNames } from "../../test/snapshot/similar-names.ts";
import { temporaryFolder } from "../../test/support.ts";
import { format, median, type Options, timed } from "./measure.ts";
import { openLike } from "./rivals/sqlite.ts";

const MAX_LENGTH = 60;

/** How many times each query on similar names is timed, after one warm-up run. */
const SEARCHES = 11;
const SCANS = 5;
const QUICK_NAMES = 1000;

export async function benchAdversary({ isQuick }: Options): Promise<void> {
  console.log("How many times longer an ordered LIKE scan takes than a search:");
  for (const [title, names] of Object.entries(similarNames)) {
    await searchSimilar(title, names, isQuick);
  }
}

/**
 * Prints how many times longer a LIKE scan takes than a search, for each query. The tests require
 * no minimum ratio for the `worst` queries.
 */
async function searchSimilar(title: string, alike: SimilarNames, isQuick: boolean): Promise<void> {
  const { kind, queries, worst = [] } = alike;
  const count = isQuick ? QUICK_NAMES : alike.count;
  const path = join(temporaryFolder(), "names");
  const writable = sqlite.openWritable(path).$client;
  createSchema(writable);
  writable.exec("BEGIN");
  fillNames(writable, alike, count);
  for (const _ of buildNameIndex(writable, kind));
  writable.exec("COMMIT");
  writable.close();
  const db = sqlite.openImmutable(path).$client;
  const names = new NameSearch(db, kind);
  const like = openLike(path, kind);
  for (const query of [...queries, ...worst]) {
    const [searches, scans]: [number[], number[]] = [[], []];
    names.find(query);
    while (searches.length < SEARCHES) searches.push(await timed(() => names.find(query)));
    while (scans.length < SCANS) scans.push(await timed(() => like.find(query)));
    const ratio = format(median(scans) / median(searches));
    const figures = `${format(median(searches))} of ${format(median(scans))} ms`;
    const text = query.length > MAX_LENGTH ? `${query.slice(0, MAX_LENGTH)}…` : query;
    const note = worst.includes(query) ? " (compares every name)" : "";
    console.log(`${ratio.padStart(7)}  ${figures}  ${title}: ${JSON.stringify(text)}${note}`);
  }
  await like.close();
  db.close();
}
