/**
 * Owns how long a query of each kind takes in the index of names, beside what one would use instead on
 * the same names. All in this process, but for PostgreSQL and Groonga, which are asked as one does.
 */
import { sqlite } from "#sqlite";
import { createRandom } from "../../src/community/random.ts";
import { openNames } from "../../src/snapshot/name-index/find.ts";
import {
  type Community,
  compare,
  median,
  notInstalled,
  quantile,
  type Row,
  timed,
} from "./measure.ts";
import { openGroonga } from "./rivals/groonga.ts";
import { openMiniSearch } from "./rivals/minisearch.ts";
import { openPostgres } from "./rivals/postgres.ts";
import { openLike, openTrigram, type Rival } from "./rivals/sqlite.ts";
import { buildSnapshot, createDraw } from "./server.ts";

const ROUNDS = 3;
/** Of a kind, in a round: others in the next. */
const QUERIES = 100;
/** What takes long is asked as often as fits in here, of a kind, in a round. */
const RIVAL_MS = 200;
/** MiniSearch takes about a kilobyte a name. */
const MINISEARCH_MOST = 1_000_000;

/** What `bun run bench adversary` found at a million, now and when FTS5 had the long lists. */
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
const WORST = "worst queries found";

const common = "an er in on ar el en al or is ra ni ka mi lo ta to ma eran tokami rinalo".split(
  " ",
);

const ALL = "all queries but the worst";

/** Milliseconds of each query. */
type Times = { ours: number[]; theirs: number[] };

export async function* benchSearch({ users }: Community): AsyncGenerator<Row> {
  const snapshot = await buildSnapshot(users);
  const rivals: Record<string, () => Promise<Rival | undefined> | Rival> = {
    "`LIKE`, ordered": () => openLike(snapshot),
    "FTS5 trigram": () => openTrigram(snapshot),
    "PostgreSQL pg_trgm": () => openPostgres(snapshot),
    Groonga: () => openGroonga(snapshot),
    ...(users <= MINISEARCH_MOST && { MiniSearch: () => openMiniSearch(snapshot) }),
  };
  const db = sqlite.openImmutable(snapshot);
  const names = openNames(db, "user");
  const kinds = Object.entries(drawQueries(users));
  for (const [beside, open] of Object.entries(rivals)) {
    const rival = await open();
    if (!rival) {
      yield notInstalled("every query", beside, beside.split(" ")[0] ?? beside);
      continue;
    }
    const taken: (Times & { kind: string })[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const sum: Times = { ours: [], theirs: [] };
      for (const [kind, list] of kinds) {
        const queries = kind === WORST ? list : list.slice(round * QUERIES).slice(0, QUERIES);
        const times = await timeBoth(names, rival, queries);
        taken.push({ kind, ...times });
        if (kind === WORST || times.theirs.length === 0) continue;
        // As many of each kind, however long one takes.
        for (let at = 0; at < QUERIES; at++) {
          sum.ours.push(times.ours[at % times.ours.length] ?? Number.NaN);
          sum.theirs.push(times.theirs[at % times.theirs.length] ?? Number.NaN);
        }
      }
      taken.push({ kind: ALL, ...sum });
    }
    await rival.close();
    for (const [kind, rounds] of Map.groupBy(taken, ({ kind }) => kind)) {
      if (rounds.some(({ theirs }) => theirs.length === 0)) {
        yield { name: `${kind}, p50`, beside, note: "finds nothing" };
        continue;
      }
      const row = (name: string, figure: (times: number[]) => number, headline: boolean) =>
        compare({
          name,
          beside,
          unit: "ms",
          as: "time",
          ours: rounds.map(({ ours }) => figure(ours)),
          theirs: rounds.map(({ theirs }) => figure(theirs)),
          headline,
        });
      yield row(`${kind}, p50`, median, kind === ALL || kind === WORST);
      if (kind === ALL) yield row(`${kind}, p99`, (times) => quantile(times, 0.99), true);
    }
  }
  db.close();
}

async function timeBoth(
  names: ReturnType<typeof openNames>,
  rival: Rival,
  queries: string[],
): Promise<Times> {
  const times: Times = { ours: [], theirs: [] };
  for (const query of queries) times.ours.push(await timed(() => names.find(query, 10)));
  const end = performance.now() + RIVAL_MS;
  for (const query of queries) {
    if ([...query].length < (rival.shortest ?? 0)) continue;
    times.theirs.push(await timed(() => rival.find(query)));
    if (performance.now() > end) break;
  }
  return times;
}

function drawQueries(users: number): Record<string, string[]> {
  const random = createRandom(7);
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
  const draw = (query: () => string) => Array.from({ length: QUERIES * ROUNDS }, query);
  const join = (count: number, one: () => string, between: string) =>
    draw(() => Array.from({ length: count }, one).join(between));
  return {
    "2 characters": draw(() => cut(2)),
    "3 characters": draw(() => cut(3)),
    "5 characters": draw(() => cut(5)),
    "8 characters": draw(() => cut(8)),
    "whole name": draw(name),
    "words turned round": draw(swapped),
    "6 random letters": join(6, letter, ""),
    "2 common n-grams": join(2, () => random.pick(common), " "),
    "3 common n-grams": join(3, () => random.pick(common), " "),
    "Chinese, Japanese, Korean": draw(() => cut(2, /^[\p{sc=Han}\p{sc=Hira}\p{sc=Hang}]+$/u)),
    [WORST]: worst,
  };
}
