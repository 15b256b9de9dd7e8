/**
 * Measures what names in another script cost. It compares a generated community with a copy in
 * which every second name is in Cyrillic letters. The queries are parts of the same names.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../src/community/random.ts";
import { temporaryFolder } from "../../test/support.ts";
import { type Connection, connect } from "./connection.ts";
import { format, type Options, quantile, tableOf, timed } from "./measure.ts";
import {
  createUserSampler,
  generateLines,
  openRoadbook,
  runCommand,
  searchPath,
} from "./server.ts";

const QUERIES = 3000;
/** Each query is sent this often to each server in turn, and its fastest response counts. */
const ROUNDS = 3;

const CYRILLIC = "абцдефгхийклмнопкрстувшкыз";

interface Named {
  id: number;
  name: string;
}

type Spell = (named: Named) => string;

/** The two communities, by the names of their users and companies. */
const communities: Record<string, Spell> = {
  "as generated": ({ name }) => name,
  "half in Cyrillic": ({ id, name }) => (id % 2 === 0 ? name : toCyrillic(name)),
};

/** Replaces each Latin letter by a Cyrillic one and keeps the accents. */
function toCyrillic(name: string): string {
  const replace = (letter: string) => CYRILLIC[letter.charCodeAt(0) - 97] ?? letter;
  return name
    .normalize("NFD")
    .replace(/[a-z]/g, replace)
    .replace(/[A-Z]/g, (letter) => replace(letter.toLowerCase()).toUpperCase())
    .normalize("NFC");
}

export async function benchSpellings({ users, seed, isQuick }: Options): Promise<void> {
  const columns = Object.values(communities);
  const snapshots: string[] = [];
  for (const spell of columns) snapshots.push(await buildSnapshot(users, spell));
  const files = snapshots.map((path) => statSync(path).size / 1e6);
  const connections: Connection[] = [];
  for (const snapshot of snapshots) {
    const { origin } = await openRoadbook(["--snapshot", snapshot, "--search-limit", "0"]);
    connections.push(await connect(origin));
  }
  const times: number[][] = columns.map(() => []);
  const sample = createSampler(users, seed);
  for (let count = 0; count < (isQuick ? 50 : QUERIES); count++) {
    const { named, part } = sample();
    const fastest = columns.map(() => Number.POSITIVE_INFINITY);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [at, spell] of columns.entries()) {
        const path = searchPath(part(spell(named)));
        const ms = await timed(() => connections[at]?.get(path));
        fastest[at] = Math.min(fastest[at] ?? ms, ms);
      }
    }
    for (const [at, ms] of fastest.entries()) times[at]?.push(ms);
  }
  for (const connection of connections) connection.close();
  const rows: [string, number[]][] = [
    ["file, MB", files],
    ["search, ms, p50", times.map((ms) => quantile(ms, 0.5))],
    ["search, ms, p99", times.map((ms) => quantile(ms, 0.99))],
  ];
  console.log(
    tableOf(
      ["", ...Object.keys(communities).map((title) => `${title}:`), "ratio:"],
      rows.map(([title, [a = Number.NaN, b = Number.NaN]]) => [
        title,
        ...[a, b, b / a].map(format),
      ]),
    ),
  );
}

async function buildSnapshot(users: number, spell: Spell): Promise<string> {
  const folder = temporaryFolder();
  const sink = Bun.file(join(folder, "dataset")).writer();
  for (const line of generateLines(users)) {
    const hasSearchedName = (line.type === "user" && line.public) || line.type === "company";
    sink.write(`${JSON.stringify(hasSearchedName ? { ...line, name: spell(line) } : line)}\n`);
  }
  await sink.end();
  await runCommand("import", join(folder, "dataset"), "--to", join(folder, "snapshot"));
  return join(folder, "snapshot");
}

/** Picks a user and the part of the name to search: some letters, all, or the words reversed. */
function createSampler(users: number, seed: number) {
  const random = createRandom(seed);
  const sampleUser = createUserSampler(users, random);
  return (): { named: Named; part: (name: string) => string } => {
    const named = sampleUser();
    const kind = random.pick(["2", "3", "5", "8", "all", "reversed"]);
    const start = random.below(3) > 0 ? 0 : random.below(Math.max(1, named.name.length - 8));
    const part = (name: string): string => {
      if (kind === "all") return name;
      if (kind === "reversed") return name.split(" ").reverse().join(" ");
      return [...name].slice(start, start + Number(kind)).join("");
    };
    return { named, part };
  };
}
