/**
 * Looks for the dearest queries, times queries that are known to be slow on names that are contrived
 * to make them slow, and times whole requests to find the dearest path.
 */
import { join } from "node:path";
import { sqlite } from "#sqlite";
import type { DatasetLine } from "../../src/domain/dataset.ts";
import { nameKinds } from "../../src/domain/model.ts";
import { createRoadbook } from "../../src/roadbook.ts";
import { buildNameIndex } from "../../src/search/name-index.ts";
import { createSchema } from "../../src/snapshot/format/schema.ts";
import { user } from "../../test/datasets.ts";
import {
  fillNames,
  openSearch,
  type SimilarNames,
  similarNames,
} from "../../test/search/similar-names.ts";
import { temporaryFolder } from "../../test/support.ts";
import { findDearQueries } from "./dear-queries.ts";
import { format, median, type Options, timed } from "./measure.ts";
import { openLike } from "./rivals/sqlite.ts";
import { buildSnapshot } from "./server.ts";

const MAX_LENGTH = 60;

/** How many times each query on similar names is timed, after one warm-up run. */
const SEARCHES = 11;
const SCANS = 5;
const QUICK_NAMES = 1000;

export async function benchAdversary(options: Options): Promise<void> {
  const snapshot = await buildSnapshot(options.users);
  console.log("The dearest queries found, in processor time:");
  for (const kind of nameKinds) await findDearQueries(snapshot, kind, options);
  console.log("How many times longer an ordered LIKE scan takes than a search:");
  for (const [title, names] of Object.entries(similarNames)) {
    await searchSimilar(title, names, options.isQuick);
  }
  await benchRequests(options);
}

/** Prints the dearest requests, also on names and achievements of the maximum size. */
async function benchRequests({ users, isQuick }: Options): Promise<void> {
  const rounds = isQuick ? 2 : 100;
  const texts = [..."Щﷺ한<"].map((letter) => letter.repeat(200));
  texts.push("an", "av mes", `an${"\u0345\u0316".repeat(199)}`);
  const paths = ["drivers/861?achievements=all", "sitemap.xml", "docs/json", "docs/scalar.js"];
  paths.push("avatars/42.svg", ...texts.map((text) => `?q=${encodeURIComponent(text)}`));
  const headers = { accept: "text/html", "accept-language": "a,".repeat(7500) };
  const found: [number, string][] = [];
  for (const data of [{ snapshot: await buildSnapshot(users) }, { dataset: longestDataset() }]) {
    const options = { ...data, searchLimit: 0, page: true, allowIndexing: true };
    await using roadbook = await createRoadbook(options);
    for (const path of paths) {
      const send = () => roadbook.fetch(new Request(`http://bench.test/${path}`, { headers }));
      found.push([await minOf(rounds, send), path.slice(0, MAX_LENGTH)]);
    }
  }
  for (const [ms, path] of found.sort(([a], [b]) => b - a))
    console.log(`${format(ms)} ms  /${path}`);
}

async function minOf(rounds: number, work: () => unknown): Promise<number> {
  const times: number[] = [];
  while (times.length < rounds) times.push(await timed(work));
  return Math.min(...times);
}

/** Has long names that fold to many letters, and a user with many achievements. */
function longestDataset(): DatasetLine[] {
  const achievement = { description: "", icon: "i", kind: "k", tier: 1, points: 1 };
  const achievements: object[] = [];
  const dataset: DatasetLine[] = [];
  for (let id = 1; id <= 860; id++) {
    const name = "Щﷺ한<".charAt(id % 4).repeat(200);
    achievements.push({ id, tier: 1, unlocked_at: "2024-03-09T17:05:00Z" });
    dataset.push({ type: "achievement", id, name: "N", ...achievement });
    dataset.push({ type: "company", id, name, member_count: 1 }, user(id, name));
  }
  dataset.push(user(861, "N", { achievements }));
  return dataset;
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
  const client = sqlite.openImmutable(path).$client;
  const find = openSearch(client, kind);
  const like = openLike(path, kind);
  for (const query of [...queries, ...worst]) {
    const searches: number[] = [];
    const scans: number[] = [];
    find(query);
    while (searches.length < SEARCHES) searches.push(await timed(() => find(query)));
    while (scans.length < SCANS) scans.push(await timed(() => like.find(query)));
    const ratio = format(median(scans) / median(searches));
    const figures = `${format(median(searches))} of ${format(median(scans))} ms`;
    const text = query.length > MAX_LENGTH ? `${query.slice(0, MAX_LENGTH)}…` : query;
    const note = worst.includes(query) ? " (compares every name)" : "";
    console.log(`${ratio.padStart(7)}  ${figures}  ${title}: ${JSON.stringify(text)}${note}`);
  }
  await like.close();
  client.close();
}
