/**
 * Looks for the query that costs the server most: starts from pieces of names, changes a query a
 * little, keeps what takes longer. What it finds is kept in search.ts and measured with the rest.
 */
import { parseArgs } from "node:util";
import { createRandom } from "../../src/community/random.ts";
import { openNames } from "../../src/snapshot/name-index/find.ts";
import { openTables } from "../../src/snapshot/read/open.ts";
import { buildSnapshot, createDraw, usersOf } from "./server.ts";

/** A start is left after this many changes in a row that did not help. */
const PATIENCE = 60;
const MAX_LENGTH = 60;

/** `bun run bench adversary [--size 1M] [--seconds 60] [--seed 1]` prints the ten worst queries. */
export async function climb(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      size: { type: "string", default: "1M" },
      seconds: { type: "string", default: "60" },
      seed: { type: "string", default: "1" },
    },
  });
  const users = usersOf(values.size);
  const { db } = await openTables(await buildSnapshot(users), { trust: true });
  const names = openNames(db, "user");
  const random = createRandom(Number(values.seed));
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

  /** Milliseconds of the processor, the least of a few tries: what else the machine does is not the query's doing. */
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
  const end = performance.now() + 1000 * Number(values.seconds);
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
