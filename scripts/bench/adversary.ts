/**
 * Looks for the query that costs the server most: among names made for it, and by climbing, which starts
 * from pieces of names, changes a query a little and keeps the change if the query takes longer. search.ts
 * has what was found and measures it.
 */
import { join } from "node:path";
import { sqlite } from "#sqlite";
import { createRandom } from "../../src/community/random.ts";
import { createSchema } from "../../src/snapshot/format/schema.ts";
import { buildNameIndex } from "../../src/snapshot/name-index/build.ts";
import { NameSearch } from "../../src/snapshot/name-index/find.ts";
import { openTables } from "../../src/snapshot/read/open.ts";
import { fillNames, type SimilarNames, similarNames } from "../../test/snapshot/similar-names.ts";
import { temporaryFolder } from "../../test/support.ts";
import { format, median, type Options, timed } from "./measure.ts";
import { openLike } from "./rivals/sqlite.ts";
import { buildSnapshot, createDraw } from "./server.ts";

/** A start is left after this many changes in a row that did not help. */
const PATIENCE = 60;
const MAX_LENGTH = 60;
const SECONDS = 60;

/** How often a query among names that are alike is timed, after once to warm up. */
const TRIES = 11;
const SCANS = 5;
const QUICK_NAMES = 1000;

export async function benchAdversary(options: Options): Promise<void> {
  console.log("an ordered LIKE scan takes as many times as long as a search:");
  for (const [title, names] of Object.entries(similarNames)) {
    await searchAlike(title, names, options.isQuick);
  }
  await climb(options);
}

/** The ratio of each query; of the worst ones none is promised. */
async function searchAlike(title: string, alike: SimilarNames, isQuick: boolean): Promise<void> {
  const { kind, queries, worst = [] } = alike;
  const count = isQuick ? QUICK_NAMES : alike.count;
  const path = join(temporaryFolder(), "names");
  const writable = sqlite.openConnection(path);
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
    const [ours, scans]: [number[], number[]] = [[], []];
    names.find(query, 10);
    while (ours.length < TRIES) ours.push(await timed(() => names.find(query, 10)));
    while (scans.length < SCANS) scans.push(await timed(() => like.find(query)));
    const ratio = format(median(scans) / median(ours));
    const figures = `${format(median(ours))} ms of ${format(median(scans))} ms`;
    const text = query.length > MAX_LENGTH ? `${query.slice(0, MAX_LENGTH)}…` : query;
    const note = worst.includes(query) ? " (all names are looked at)" : "";
    console.log(`${ratio.padStart(7)}  ${figures}  ${title}: ${JSON.stringify(text)}${note}`);
  }
  await like.close();
  db.close();
}

async function climb({ users, seed, isQuick }: Options): Promise<void> {
  const tables = await openTables(await buildSnapshot(users), { trust: true });
  const db = tables.db.$client;
  const names = new NameSearch(db, "user");
  const random = createRandom(seed);
  const { below } = random;
  const draw = createDraw(users, random);

  function piece(): string {
    const letters = [...draw().name];
    const length = 2 + below(2);
    return letters.splice(below(letters.length - length), length).join("");
  }

  function change(query: string): string {
    const words = query.split(" ");
    const letters = [...query];
    const changes = [
      () => words.splice(below(words.length), 1, piece()),
      () => words.splice(below(words.length), 0, piece()),
      () => words.splice(below(words.length), 1),
    ];
    if (random.chance(0.6)) {
      random.pick(changes)();
      return words.join(" ");
    }
    letters.splice(below(letters.length), below(2), ...piece().slice(0, below(3)));
    return letters.join("");
  }

  /**
   * Milliseconds of the processor, the least of a few tries: what else the machine does is not the
   * query's doing.
   */
  function costOf(query: string): number {
    const times: number[] = [];
    while (times.length < 4) {
      const start = process.cpuUsage();
      names.find(query, 10);
      const { user, system } = process.cpuUsage(start);
      times.push((user + system) / 1000);
    }
    return Math.min(...times);
  }

  const found = new Map<string, number>();
  const end = performance.now() + 1000 * (isQuick ? 1 : SECONDS);
  while (performance.now() < end) {
    let worst = `${piece()} ${piece()}`;
    let cost = 0;
    for (let idle = 0; idle < PATIENCE && performance.now() < end; idle++) {
      const query = change(worst).trim().slice(0, MAX_LENGTH);
      if (query.length < 4 || !query.isWellFormed()) continue;
      const ms = costOf(query);
      if (ms < cost * 1.02) continue;
      worst = query;
      cost = ms;
      idle = 0;
    }
    found.set(worst, cost);
  }
  const ranked = [...found].sort(([, one], [, other]) => other - one);
  for (const [query, ms] of ranked.slice(0, 10)) {
    console.log(`${ms.toFixed(2)} ms  ${JSON.stringify(query)}`);
  }
  db.close();
}
