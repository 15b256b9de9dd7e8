/**
 * Measures how long a client waits for each kind of query. Requests are sent one at a time over a
 * keep-alive connection, and each URL is sent only once. The executable is compared with the floor,
 * typical implementations and PostgreSQL. Roadbook's index and FTS5's trigram index also run in
 * this process, without a server.
 */
import { Random } from "../../src/domain/random.ts";
import { openInPlace } from "../../src/snapshot/format/open.ts";
import { openSearch } from "../../test/search/similar-names.ts";
import { connect } from "./connection.ts";
import { format, median, type Options, quantile, tableOf, timed } from "./measure.ts";
import { openPostgres } from "./rivals/postgres.ts";
import { type Finder, openTrigram } from "./rivals/sqlite.ts";
import {
  buildSnapshot,
  createUserSampler,
  FLOOR,
  openBeside,
  openFloor,
  openRivals,
  openRoadbook,
  ROADBOOK,
  searchPath,
} from "./server.ts";

const QUERIES = 300;
/** Each kind of query is measured for this long at most, so a slow rival gets fewer queries. */
const KIND_MS = 1000;

/** The worst queries that a random search found with a million users. */
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

export async function benchSearch(options: Options): Promise<void> {
  const { users, isQuick } = options;
  const snapshot = await buildSnapshot(users);
  const kinds = sampleQueries(snapshot, isQuick ? 20 : QUERIES);
  const roadbook = await openRoadbook(["--snapshot", snapshot, "--search-limit", "0"]);
  const floor = await openFloor(roadbook, Object.values(kinds).flat().map(searchPath));
  // Mapped into memory, as a server opens its private copy.
  const client = (await openInPlace(snapshot, true)).db.$client;
  const index: Finder = {
    find: openSearch(client),
    close: () => client.close(),
  };
  const finders: Record<string, Finder> = {
    [ROADBOOK]: await openHttp(roadbook.origin),
  };
  const others = {
    ...(await openBeside(options, ["--search-limit", "0"])),
    [FLOOR]: floor,
    ...(await openRivals(users)),
  };
  for (const [name, { origin }] of Object.entries(others)) finders[name] = await openHttp(origin);
  const postgres = await openPostgres(snapshot);
  if (postgres) finders["PostgreSQL, pg_trgm"] = postgres;
  else console.error("PostgreSQL is skipped: it is not installed");
  finders["the index alone"] = index;
  finders["FTS5 trigram alone"] = openTrigram(snapshot);

  const rows: string[][] = [];
  const allTimes = new Map<string, number[]>();
  for (const [kind, queries] of Object.entries(kinds)) {
    const row = [`${kind}, p50`];
    for (const [name, finder] of Object.entries(finders)) {
      const times = await timeQueries(finder, queries);
      row.push(format(median(times)));
      if (kind === WORST) continue;
      // A slow rival's times are repeated, so that all kinds have the same weight in the quantiles.
      const weighted = queries.map((_, index) => times[index % times.length] ?? Number.NaN);
      allTimes.set(name, [...(allTimes.get(name) ?? []), ...weighted.filter(Number.isFinite)]);
    }
    rows.push(row);
  }
  for (const [title, share] of Object.entries({ p50: 0.5, p99: 0.99 }))
    rows.push([
      `${ALL}, ${title}`,
      ...[...allTimes.values()].map((times) => format(quantile(times, share))),
    ]);
  console.log(tableOf(["ms", ...Object.keys(finders).map((name) => `${name}:`)], rows));
  for (const finder of Object.values(finders)) await finder.close();
}

async function openHttp(origin: string): Promise<Finder> {
  let connection = await connect(origin);
  let count = 0;
  return {
    async find(query) {
      const path = `${searchPath(query)}&n=${count++}`;
      const response = await connection.get(path).catch(async () => {
        // The connection was idle while other servers were measured, so the server closed it.
        connection = await connect(origin);
        return connection.get(path);
      });
      if (!/^HTTP\/1.1 (200|404) /.test(response)) throw new Error(response);
    },
    close: () => connection.close(),
  };
}

async function timeQueries(finder: Finder, queries: string[]): Promise<number[]> {
  await finder.find("warm up");
  const times: number[] = [];
  const end = performance.now() + KIND_MS;
  for (const query of queries) {
    if ([...query].length < (finder.minLength ?? 0)) continue;
    times.push(await timed(() => finder.find(query)));
    if (performance.now() > end) break;
  }
  return times;
}

function sampleQueries(snapshot: string, count: number): Record<string, string[]> {
  const random = new Random(1);
  const sampleUser = createUserSampler(snapshot, random);
  const name = () => sampleUser().name;
  const substring = (length: number, script = /./): string => {
    const letters = [...name()];
    const from = random.below(letters.length - length + 1);
    const text = letters.slice(from, from + length).join("");
    const isUsable = from >= 0 && text.trim() === text && script.test(text);
    return isUsable ? text : substring(length, script);
  };
  const reversed = (): string => {
    const words = name().split(" ");
    return words.length > 1 ? words.reverse().join(" ") : reversed();
  };
  const letter = () => String.fromCharCode(97 + random.below(26));
  const repeat = (query: () => string) => Array.from({ length: count }, query);
  const join = (pieces: number, piece: () => string, between: string) =>
    repeat(() => Array.from({ length: pieces }, piece).join(between));
  return {
    "2 characters": repeat(() => substring(2)),
    "3 characters": repeat(() => substring(3)),
    "5 characters": repeat(() => substring(5)),
    "8 characters": repeat(() => substring(8)),
    "whole name": repeat(name),
    "words in reverse": repeat(reversed),
    "6 random letters": join(6, letter, ""),
    "2 common n-grams": join(2, () => random.pick(common), " "),
    "3 common n-grams": join(3, () => random.pick(common), " "),
    "Chinese, Japanese, Korean": repeat(() =>
      substring(2, /^[\p{sc=Han}\p{sc=Hira}\p{sc=Hang}]+$/u),
    ),
    [WORST]: worst,
  };
}
