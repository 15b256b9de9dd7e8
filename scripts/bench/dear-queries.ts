/**
 * Searches for the queries that take the most processor time in one tick of the event loop: first at
 * random, from n-grams that many names have, then by changing the dearest.
 */

import type { NameKind } from "../../src/domain/model.ts";
import { Random } from "../../src/domain/random.ts";
import { NameSearch } from "../../src/search/find.ts";
import { normalizeQuery } from "../../src/search/fold.ts";
import { openInPlace } from "../../src/snapshot/format/open.ts";
import type { Sqlite } from "../../src/sqlite/driver.ts";
import { cpuOf, format, type Options } from "./measure.ts";

const RANDOM_QUERIES = 2000;
const ROUNDS = 10;
/** How many of the dearest queries are changed in a round, how often, and how many are printed. */
const CHANGED = 20;
const CHANGES = 5;
const SHOWN = 10;

/** Prints the dearest queries for names of this kind. */
export async function findDearQueries(
  snapshot: string,
  kind: NameKind,
  { isQuick }: Options,
): Promise<void> {
  const client = (await openInPlace(snapshot, true)).db.$client;
  const names = new NameSearch(client, kind);
  const random = new Random(1);
  const draw = createQueries(listCommon(client, kind), random);
  const costs = new Map<string, number>();

  /** As on a page, which offers names if nothing is found. */
  function* search(text: string): Generator<void, void> {
    const query = normalizeQuery(text);
    const found = yield* names.find(query);
    if (found.length > 0) return;
    yield;
    names.listSimilar(query);
  }
  /** Returns the processor time of each tick, that is, between pauses. */
  function timesOf(query: string): number[] {
    const steps = search(query);
    const times: number[] = [];
    let isDone = false;
    const step = () => {
      isDone = steps.next().done ?? false;
    };
    while (!isDone) times.push(cpuOf(step));
    return times;
  }
  function measure(query: string): void {
    if (costs.has(query) || [...query.trim()].length < 2) return;
    // The first time, pages of the snapshot may still have to be read.
    const times = [timesOf(query), timesOf(query)].map((ticks) => Math.max(...ticks));
    costs.set(query, Math.min(...times));
  }
  const listDearest = (count: number) =>
    [...costs.keys()].sort((a, b) => (costs.get(b) ?? 0) - (costs.get(a) ?? 0)).slice(0, count);

  for (let count = isQuick ? 20 : RANDOM_QUERIES; count > 0; count--) measure(draw.query());
  for (let round = isQuick ? 1 : ROUNDS; round > 0; round--) {
    for (const query of listDearest(CHANGED)) {
      for (let change = 0; change < CHANGES; change++) measure(draw.changed(query));
    }
  }
  const dearest = listDearest(SHOWN).map((query) => {
    const times = Array.from({ length: 7 }, () => timesOf(query));
    const longest = Math.min(...times.map((ticks) => Math.max(...ticks)));
    const total = Math.min(...times.map((ticks) => ticks.reduce((a, b) => a + b)));
    return { query, longest, total };
  });
  for (const { query, longest, total } of dearest.sort((a, b) => b.longest - a.longest)) {
    const figures = `${format(longest)} ms in one tick, ${format(total)} in all`;
    console.log(`${figures}  ${kind}: ${JSON.stringify(query)}`);
  }
  client.close();
}

/** Returns the n-grams without marks that many names have, most names first. */
function listCommon(client: Sqlite, kind: NameKind): string[] {
  const common = client.prepare<{ ngram: string }>(
    `SELECT ngram FROM ${kind}_common ORDER BY counted DESC`,
  );
  return common
    .all()
    .map(({ ngram }) => ngram)
    .filter((ngram) => !/\p{Cc}/u.test(ngram));
}

function createQueries(ngrams: string[], random: Random) {
  const pairs = ngrams.filter((ngram) => [...ngram].length === 2);
  const others = ngrams.filter((ngram) => !/[ -~]/.test(ngram));
  const following = Map.groupBy(ngrams, (ngram) => [...ngram].slice(0, 2).join(""));

  /** Prefers the first. */
  const pick = (list: string[]) => list[random.below(1 + random.below(list.length))] ?? "";
  const piece = () => pick(random.chance(0.2) ? others : random.chance(0.5) ? pairs : ngrams);
  const some = (most: number, between: string, make = piece) =>
    Array.from({ length: 2 + random.below(most - 1) }, make).join(between);
  /** A text of which every n-gram is common. */
  const chain = (length = 2 + random.below(6)) => {
    let text = piece();
    for (let added = 0; added < length; added++) {
      const next = pick(following.get([...text].slice(-2).join("")) ?? []);
      text += [...next].slice(2).join("");
    }
    return text;
  };
  const queries = [
    () => some(2, ""),
    () => piece().repeat(3),
    () => some(2, " "),
    () => some(8, " "),
    () => some(8, " ", () => pick(pairs)),
    () => chain(),
    () => some(3, " ", chain),
    () => `${[...piece()][0] ?? "a"}'`,
  ];
  const changes = [
    (points: string[], at: number) => points.toSpliced(at, 0, piece()),
    (points: string[], at: number) => points.toSpliced(at, 0, " ", piece(), " "),
    (points: string[], at: number) => points.toSpliced(at, 1),
    (points: string[], at: number) => points.toSpliced(at, 2, piece()),
    (points: string[]) => [...points, " ", chain()],
  ];
  return {
    query: () => random.pick(queries)(),
    changed(query: string): string {
      const points = [...query];
      return random
        .pick(changes)(points, random.below(points.length + 1))
        .join("");
    },
  };
}
