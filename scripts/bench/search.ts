/**
 * Owns how long a client waits for the results of a query of each kind: a request to the executable
 * on a connection that is kept, one at a time and each URL once, beside the floor and what one
 * would use instead. The index alone and FTS5's own trigrams run in this process.
 */
import { sqlite } from "#sqlite";
import { createRandom } from "../../src/community/random.ts";
import { NameSearch } from "../../src/snapshot/name-index/find.ts";
import { connect } from "./connection.ts";
import { format, median, type Options, quantile, tableOf, timed } from "./measure.ts";
import { openPostgres } from "./rivals/postgres.ts";
import { openTrigram, type Rival } from "./rivals/sqlite.ts";
import {
  buildSnapshot,
  createDraw,
  FLOOR,
  OURS,
  openFloor,
  openRivals,
  openRoadbook,
  searchPath,
} from "./server.ts";

/** For each kind. */
const QUERIES = 300;
/** A slow rival is asked as often as fits into this time, for each kind. */
const RIVAL_MS = 1000;

/** What `bun run bench adversary` found at a million, also when FTS5 had the long posting lists. */
const worst = [
  "av mes",
  "in ra  Ni le il",
  "Ele ργο",
  "Re gO im  Ma Ti",
  "ān le ay Håk",
  "lò  on Ar ma AN",
  "us ea ar ER st AN",
  "Ro ri ar  an Mă st",
  "ấn Re Tr ka ar st en Ta",
  "an en Ně TT Ra",
];
const WORST = "the worst queries found";
const ALL = "all kinds but the worst";

const common = "an er in on ar el en al or is ra ni ka mi lo ta to ma eran tokami rinalo".split(
  " ",
);

export async function benchSearch({ users, seed, isQuick }: Options): Promise<void> {
  const snapshot = await buildSnapshot(users);
  const kinds = drawQueries(users, seed, isQuick ? 20 : QUERIES);
  const ours = await openRoadbook(["--snapshot", snapshot, "--search-limit", "0"]);
  const floor = await openFloor(ours, Object.values(kinds).flat().map(searchPath));
  const db = sqlite.openImmutable(snapshot).$client;
  const names = new NameSearch(db, "user");
  const index: Rival = { find: (query) => names.find(query, 10), close: () => db.close() };
  const finders: Record<string, Rival> = {
    [OURS]: await openHttp(ours.origin),
    [FLOOR]: await openHttp(floor.origin),
  };
  for (const [name, { origin }] of Object.entries(await openRivals(users)))
    finders[name] = await openHttp(origin);
  const postgres = await openPostgres(snapshot);
  if (postgres) finders["PostgreSQL, pg_trgm"] = postgres;
  else console.error("PostgreSQL is left out: it is not installed");
  finders["the index alone"] = index;
  finders["FTS5 trigram alone"] = openTrigram(snapshot);

  const rows: string[][] = [];
  const sums = new Map<string, number[]>();
  for (const [kind, queries] of Object.entries(kinds)) {
    const row = [`${kind}, p50`];
    for (const [name, finder] of Object.entries(finders)) {
      const times = await timeQueries(finder, queries);
      row.push(format(median(times)));
      if (kind === WORST) continue;
      // Equally many of each kind, however few a slow rival was asked.
      const weighted = queries.map((_, at) => times[at % times.length] ?? Number.NaN);
      sums.set(name, [...(sums.get(name) ?? []), ...weighted.filter(Number.isFinite)]);
    }
    rows.push(row);
  }
  for (const [title, share] of Object.entries({ p50: 0.5, p99: 0.99 }))
    rows.push([
      `${ALL}, ${title}`,
      ...[...sums.values()].map((times) => format(quantile(times, share))),
    ]);
  console.log(tableOf(["ms", ...Object.keys(finders).map((name) => `${name}:`)], rows));
  for (const finder of Object.values(finders)) await finder.close();
}

/** A server as a client sees it. */
async function openHttp(origin: string): Promise<Rival> {
  let connection = await connect(origin);
  let count = 0;
  return {
    async find(query) {
      const path = `${searchPath(query)}&n=${count++}`;
      const response = await connection.ask(path).catch(async () => {
        // Closed, as it was idle while others were measured.
        connection = await connect(origin);
        return connection.ask(path);
      });
      if (!/^HTTP\/1.1 (200|404) /.test(response)) throw new Error(response);
    },
    close: () => connection.close(),
  };
}

async function timeQueries(finder: Rival, queries: string[]): Promise<number[]> {
  await finder.find("warm up");
  const times: number[] = [];
  const end = performance.now() + RIVAL_MS;
  for (const query of queries) {
    if ([...query].length < (finder.shortest ?? 0)) continue;
    times.push(await timed(() => finder.find(query)));
    if (performance.now() > end) break;
  }
  return times;
}

function drawQueries(users: number, seed: number, count: number): Record<string, string[]> {
  const random = createRandom(seed);
  const user = createDraw(users, random);
  const name = () => user().name;
  const cut = (length: number, script = /./): string => {
    const letters = [...name()];
    const from = random.below(letters.length - length + 1);
    const text = letters.slice(from, from + length).join("");
    const isGood = from >= 0 && text.trim() === text && script.test(text);
    return isGood ? text : cut(length, script);
  };
  const swapped = (): string => {
    const words = name().split(" ");
    return words.length > 1 ? words.reverse().join(" ") : swapped();
  };
  const letter = () => String.fromCharCode(97 + random.below(26));
  const draw = (query: () => string) => Array.from({ length: count }, query);
  const join = (pieces: number, piece: () => string, between: string) =>
    draw(() => Array.from({ length: pieces }, piece).join(between));
  return {
    "2 characters": draw(() => cut(2)),
    "3 characters": draw(() => cut(3)),
    "5 characters": draw(() => cut(5)),
    "8 characters": draw(() => cut(8)),
    "whole name": draw(name),
    "words in reverse": draw(swapped),
    "6 random letters": join(6, letter, ""),
    "2 common n-grams": join(2, () => random.pick(common), " "),
    "3 common n-grams": join(3, () => random.pick(common), " "),
    "Chinese, Japanese, Korean": draw(() => cut(2, /^[\p{sc=Han}\p{sc=Hira}\p{sc=Hang}]+$/u)),
    [WORST]: worst,
  };
}
