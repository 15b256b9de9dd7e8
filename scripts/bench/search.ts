/**
 * Owns the figures of the search: how long a query of each kind takes, beside what one would write
 * instead on the same names. Ratios are the result; the figures are this machine's.
 */
import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SQL } from "bun";
import MiniSearch from "minisearch";
import { createRandom } from "../../src/community/random.ts";
import { fold } from "../../src/search/fold.ts";
import { buildSnapshot, createNamer, type Served, searchPath, serve, usersOf } from "./server.ts";

const QUERIES = 500;
/** Every query is asked so often, and its median counts: a pause of the machine is not the search. */
const ROUNDS = 3;
/** What takes a hundred milliseconds is asked so often as fits in here. */
const RIVAL_MS = 1500;
/** MiniSearch takes about a kilobyte a name. */
const MINISEARCH_MOST = 1_000_000;

/** What `bun run bench adversary` found at a million. */
const worst = [
  "lò  on Ar ma AN",
  "An  Tr il Ra uc",
  "us ea ar ER st AN",
  "ru le áL  ar On",
  "Ro ri ar  an Mă st",
  "tr Ša or  uc lo",
  "ri él le in  rÅ de",
  "ấn Re Tr ka ar st en Ta",
  "an en Ně TT Ra",
  "nd ël st AR dr",
];

const common = "an er in on ar el en al or is ra ni ka mi lo ta to ma eran tokami rinalo".split(
  " ",
);

/** A way to search: how long one query takes, or undefined when it cannot answer it at all. */
interface Rival {
  name: string;
  time(query: string): Promise<number | undefined>;
  close(): Promise<void>;
}

/** `bun run bench search [--size 100k|1M|10M] [--postgres URL] [--alone]` */
export async function benchSearch(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      size: { type: "string", default: "1M" },
      postgres: { type: "string" },
      alone: { type: "boolean", default: false },
    },
  });
  const users = usersOf(values.size);
  const snapshot = await buildSnapshot(users);
  const server = await serve(snapshot.path);
  const kinds = drawQueries(users);
  const ours = await measureOurs(server, kinds);
  const memory = server.anonymousMegabytes();
  await server.close();

  const rivals = values.alone ? [] : await openRivals(snapshot.path, users, values.postgres);
  const rows: string[][] = [];
  for (const [kind, queries] of Object.entries(kinds)) {
    const times = ours.get(kind) ?? [];
    const row = [kind, ...[0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(2))];
    for (const rival of rivals) row.push(compare(await measureRival(rival, queries), times));
    rows.push(row);
  }
  for (const rival of rivals) await rival.close();
  const all = [...ours].flatMap(([kind, times]) => (kind === "worst found" ? [] : times));
  rows.push([
    "all but the worst",
    ...[0.5, 0.99, 1].map((share) => quantile(all, share).toFixed(2)),
  ]);

  const built = snapshot.import;
  const report = [
    `## ${values.size} users`,
    "",
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Bun ${Bun.version}, commit ${commit()}.`,
    `Snapshot ${snapshot.megabytes.toFixed(0)} MB${built ? `, imported in ${built.seconds.toFixed(1)} s with ${built.peakMegabytes.toFixed(0)} MB at the peak` : ""}; the server's own memory ${memory?.toFixed(0) ?? "?"} MB.`,
    "Milliseconds. Ours is asked over HTTP, and the median of a profile request is taken off; the others answer without HTTP. They also find less: `LIKE`, the trigrams and PostgreSQL no words in another order (most of “worst found”), MiniSearch nothing inside a word.",
    "",
    ...table(["query", "p50", "p99", "max", ...rivals.map(({ name }) => `${name}, p50`)], rows),
    "",
  ].join("\n");
  console.log(report);
  await writeReport(values.size, report);
}

function drawQueries(users: number): Record<string, string[]> {
  const random = createRandom(7);
  const name = createNamer(users, random);
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
  const ngrams = (count: number, between: string) =>
    Array.from({ length: count }, () => random.pick(common)).join(between);
  const letter = () => String.fromCharCode(97 + random.below(26));
  const draw = (query: () => string) => Array.from({ length: QUERIES }, query);
  return {
    "2 characters": draw(() => cut(2)),
    "3 characters": draw(() => cut(3)),
    "5 characters": draw(() => cut(5)),
    "8 characters": draw(() => cut(8)),
    "whole name": draw(name),
    "words turned round": draw(swapped),
    "6 random letters": draw(() => Array.from({ length: 6 }, letter).join("")),
    digits: draw(() => String(10 + random.below(9990))),
    "common ngrams, joined": draw(() => ngrams(3, "")),
    "2 common ngrams": draw(() => ngrams(2, " ")),
    "3 common ngrams": draw(() => ngrams(3, " ")),
    "Chinese, Japanese, Korean": draw(() => cut(2, /^[\p{sc=Han}\p{sc=Hira}\p{sc=Hang}]+$/u)),
    Cyrillic: draw(() => cut(4, /^\p{sc=Cyrl}+$/u)),
    "worst found": worst,
  };
}

/** Above the median of the profile requests that were made between the searches. */
async function measureOurs(
  server: Served,
  kinds: Record<string, string[]>,
): Promise<Map<string, number[]>> {
  for (const query of Object.values(kinds).flat()) await server.time(searchPath(query));
  const profiles: number[] = [];
  const measured = new Map<string, number[]>();
  for (const [kind, queries] of Object.entries(kinds)) {
    const rounds: number[][] = [];
    while (rounds.length < ROUNDS) {
      const times: number[] = [];
      for (const query of queries) {
        profiles.push(await server.time("/users/public/1"));
        times.push(await server.time(searchPath(query)));
      }
      rounds.push(times);
    }
    measured.set(
      kind,
      queries.map((_, at) =>
        quantile(
          rounds.map((times) => times[at] ?? 0),
          0.5,
        ),
      ),
    );
  }
  const profile = quantile(profiles, 0.5);
  for (const [kind, times] of measured) {
    measured.set(
      kind,
      times.map((ms) => Math.max(0, ms - profile)),
    );
  }
  return measured;
}

async function measureRival(rival: Rival, queries: string[]): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + RIVAL_MS;
  for (const query of queries) {
    const ms = await rival.time(query);
    if (ms !== undefined) times.push(ms);
    if (performance.now() > end) break;
  }
  return times;
}

function compare(theirs: number[], ours: number[]): string {
  if (theirs.length === 0) return "finds nothing";
  const ms = quantile(theirs, 0.5);
  return `${ms.toFixed(ms < 10 ? 2 : 0)} (${Math.round(ms / Math.max(0.01, quantile(ours, 0.5)))}×)`;
}

async function openRivals(snapshot: string, users: number, postgres?: string): Promise<Rival[]> {
  const rivals = [openLike(snapshot), openTrigram(snapshot)];
  if (users <= MINISEARCH_MOST) rivals.push(openMiniSearch(snapshot));
  if (postgres) rivals.push(await openPostgres(snapshot, postgres));
  return rivals;
}

const names = "SELECT rank, folded FROM user_name ORDER BY rank";
type Name = { rank: number; folded: string };

/** Tiers 1, 2 and 4 in the order of the contract; rank is the order inside a tier. */
const tiers = "(folded = $q) DESC, (folded LIKE $prefix) DESC";

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function patternsOf(query: string): { $q: string; $prefix: string; $like: string } {
  const q = fold(query);
  const literal = q.replaceAll(/[\\%_]/g, "\\$&");
  return { $q: q, $prefix: `${literal}%`, $like: `%${literal}%` };
}

function openLike(snapshot: string): Rival {
  const db = new Database(snapshot, { readonly: true });
  const find = db.query(
    `SELECT rank FROM user_name WHERE folded LIKE $like ESCAPE '\\' ORDER BY ${tiers}, rank LIMIT 10`,
  );
  return {
    name: "`LIKE`",
    time: (query) => timed(() => find.all(patternsOf(query))),
    close: async () => db.close(),
  };
}

/** Finds no text under three characters. */
function openTrigram(snapshot: string): Rival {
  const path = join(tmpdir(), "roadbook-bench-trigram");
  rmSync(path, { force: true });
  const db = new Database(path);
  db.run("PRAGMA journal_mode = OFF");
  db.run("CREATE VIRTUAL TABLE name USING fts5(folded, tokenize = 'trigram')");
  db.run("ATTACH ? AS snapshot", [snapshot]);
  db.run(`INSERT INTO name (rowid, folded) ${names}`);
  const find = db.query(
    `SELECT rowid FROM name WHERE name MATCH $match ORDER BY ${tiers}, rowid LIMIT 10`,
  );
  return {
    name: "FTS5 trigram",
    async time(query) {
      const { $q, $prefix } = patternsOf(query);
      if ([...$q].length < 3) return undefined;
      const $match = `"${$q.replaceAll('"', '""')}"`;
      return timed(() => find.all({ $q, $prefix, $match }));
    },
    async close() {
      db.close();
      rmSync(path);
    },
  };
}

/** Finds words by their beginning, nothing inside them. */
function openMiniSearch(snapshot: string): Rival {
  const db = new Database(snapshot, { readonly: true });
  const index = new MiniSearch<Name>({ idField: "rank", fields: ["folded"] });
  for (const row of db.query<Name, []>(names).iterate()) index.add(row);
  db.close();
  return {
    name: "MiniSearch",
    time: (query) =>
      timed(() => index.search(fold(query), { prefix: true, combineWith: "AND" }).slice(0, 10)),
    close: async () => index.removeAll(),
  };
}

async function openPostgres(snapshot: string, url: string): Promise<Rival> {
  const sql = new SQL(url, { max: 1 });
  await sql`CREATE EXTENSION IF NOT EXISTS pg_trgm`;
  await sql`DROP TABLE IF EXISTS roadbook_bench`;
  await sql`CREATE TABLE roadbook_bench (rank int PRIMARY KEY, folded text NOT NULL)`;
  const db = new Database(snapshot, { readonly: true });
  let batch: Name[] = [];
  const flush = async () => {
    if (batch.length > 0) await sql`INSERT INTO roadbook_bench ${sql(batch)}`;
    batch = [];
  };
  for (const row of db.query<Name, []>(names).iterate()) {
    batch.push({ rank: row.rank, folded: row.folded });
    if (batch.length === 10_000) await flush();
  }
  await flush();
  db.close();
  await sql`CREATE INDEX ON roadbook_bench USING gin (folded gin_trgm_ops)`;
  await sql`ANALYZE roadbook_bench`;
  return {
    name: "PostgreSQL pg_trgm",
    time(query) {
      const { $q, $prefix, $like } = patternsOf(query);
      return timed(
        () => sql`SELECT rank FROM roadbook_bench WHERE folded LIKE ${$like}
          ORDER BY (folded = ${$q}) DESC, (folded LIKE ${$prefix}) DESC, rank LIMIT 10`,
      );
    },
    async close() {
      await sql`DROP TABLE roadbook_bench`;
      await sql.close();
    },
  };
}

function quantile(times: number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function table(head: string[], rows: string[][]): string[] {
  const line = (cells: string[]) => `| ${head.map((_, at) => cells[at] ?? "").join(" | ")} |`;
  return [line(head), line(head.map((_, at) => (at === 0 ? "---" : "--:"))), ...rows.map(line)];
}

function commit(): string {
  const { stdout } = Bun.spawnSync(["git", "rev-parse", "--short", "HEAD"], {
    cwd: import.meta.dir,
  });
  return stdout.toString().trim();
}

/** The sizes measured before stay in the page. */
async function writeReport(size: string, report: string): Promise<void> {
  const file = Bun.file(join(import.meta.dir, "RESULTS.md"));
  const sections = (await file.exists()) ? (await file.text()).split(/^(?=## )/m) : [];
  const [head = "# What a search costs\n\n`bun run bench search` writes this page.\n\n"] = sections;
  const others = sections.slice(1).filter((section) => !section.startsWith(`## ${size} users\n`));
  await Bun.write(
    file,
    [head, ...others.map((section) => `${section.trimEnd()}\n\n`), report].join(""),
  );
}
