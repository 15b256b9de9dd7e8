/**
 * Measures how many names are offered for queries with a slip that find nothing, and what that costs.
 * A name is typed in any of its spellings, and offered if it, or another one with this spelling, is among
 * the three.
 */
import { Random } from "../../src/domain/random.ts";
import { NameSearch } from "../../src/search/find.ts";
import { normalizeQuery, SPELLING_END } from "../../src/search/fold.ts";
import { maxSlipsFor } from "../../src/search/similar.ts";
import { openInPlace } from "../../src/snapshot/format/open.ts";
import { finish } from "../../test/support.ts";
import { cpuOf, format, type Options, quantile, tableOf } from "./measure.ts";
import { buildSnapshot } from "./server.ts";

const QUERIES = 1000;
const WORST = 5;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

export async function benchSlips({ users, isQuick }: Options): Promise<void> {
  const client = (await openInPlace(await buildSnapshot(users), true)).db.$client;
  const searches = [new NameSearch(client, "user"), new NameSearch(client, "company")];
  const random = new Random(5);
  const findName = client.prepare<{ folded: string }>("SELECT folded FROM user WHERE id = ?");
  const names = client
    .prepare<{ folded: string }>("SELECT folded FROM user WHERE id % 97 = 3")
    .all()
    .map(({ folded }) => random.pick(folded.split(SPELLING_END)));

  const swap = (points: string[], at: number) => {
    const pair = points.slice(at, at + 2).reverse();
    return points.toSpliced(at, pair.length, ...pair);
  };
  const slips: Record<string, (points: string[], at: number) => string[]> = {
    "a wrong letter": (points, at) => points.with(at, random.pick([...LETTERS])),
    "two letters swapped": swap,
    "a missing letter": (points, at) => points.toSpliced(at, 1),
    "a doubled letter": (points, at) => points.toSpliced(at, 0, points[at] ?? ""),
  };
  const costs = new Map<string, number>();
  const rows = Object.entries(slips).map(([title, slip]) => {
    const counts = { empty: 0, offered: 0 };
    const times: number[] = [];
    for (let count = isQuick ? 20 : QUERIES; count > 0; count--) {
      const name = random.pick(names);
      const points = [...name];
      const query = normalizeQuery(slip(points, random.below(points.length)).join(""));
      const isEmpty = searches.every((search) => finish(search.find(query)).length === 0);
      if (!isEmpty || maxSlipsFor([...query]) === 0) continue;

      counts.empty++;
      const ms = cpuOf(() => searches.map((search) => search.listSimilar(query)));
      times.push(ms);
      costs.set(query, ms);
      const offered = searches[0]?.listSimilar(query) ?? [];
      const isOffered = offered.some(({ id }) =>
        findName.get(id)?.folded.split(SPELLING_END).includes(name),
      );
      if (isOffered) counts.offered++;
    }
    const share = (100 * counts.offered) / counts.empty;
    return [title, ...[share, quantile(times, 0.5), quantile(times, 0.99)].map(format)];
  });
  console.log(tableOf(["a query with", "offered, %:", "p50, ms:", "p99, ms:"], rows));

  const dearest = [...costs].sort(([, a], [, b]) => b - a).slice(0, WORST);
  const worst = dearest.map(([query]) => {
    const times = Array.from({ length: 5 }, () =>
      cpuOf(() => searches.map((search) => search.listSimilar(query))),
    );
    return `${query} ${format(Math.min(...times))}`;
  });
  console.log(`The dearest, ms: ${worst.join(", ")}`);
  client.close();
}
