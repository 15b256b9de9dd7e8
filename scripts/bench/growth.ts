/**
 * Measures how times, memory and file sizes grow with the number of users, using the executable and
 * generated communities.
 */
import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../src/community/random.ts";
import { openExecutable, temporaryFolder } from "../../test/support.ts";
import { type Connection, connect } from "./connection.ts";
import { median, megabytesOf, type Options, quantile, tableOf, timed } from "./measure.ts";
import {
  createUserSampler,
  openRoadbook,
  runCommand,
  searchPath,
  timeUntilSwapped,
  sizes as usersOf,
  writeDataset,
} from "./server.ts";

const REQUESTS = 2000;
const ROUNDS = 5;

const metrics = {
  "profile, p50": "s",
  "profile, p99": "s",
  "search, p50": "s",
  "search, p99": "s",
  "start to ready": "s",
  swap: "s",
  apply: "s",
  import: "s",
  "apply, processor time": "s",
  "import, processor time": "s",
  "server's memory": "MB",
  "snapshot file": "MB",
  "import, peak": "MB",
  "apply, peak": "MB",
} as const;
type Metric = keyof typeof metrics;
type Figures = Record<Metric, number>;

export async function benchGrowth({ isQuick }: Options): Promise<void> {
  const sizes = isQuick ? ["10k", "100k"] : ["10k", "100k", "1M", "10M"];
  console.log(formatTable(sizes, await measureSizes(sizes)));
}

async function measureSizes(sizes: string[]): Promise<Figures[]> {
  const log = (text: string) => console.error(`${new Date().toISOString()} ${text}`);
  const communities: Community[] = [];
  for (const size of sizes) {
    log(`building ${size}`);
    communities.push(await build(size));
  }
  const measured: Figures[] = [];
  for (const { community, times } of await timeRequests(communities)) {
    const { size, path, changedPath, figures } = community;
    log(`measuring ${size}`);
    measured.push({
      ...figures,
      ...times,
      "start to ready": await timeStart(path),
      swap: await timeSwap(path, changedPath),
    });
  }
  return measured;
}

type Community = Awaited<ReturnType<typeof build>>;

/** Builds a snapshot, and a changed copy in which one user has become private. */
async function build(size: string) {
  const folder = temporaryFolder();
  const [dataset, changes] = [join(folder, "dataset"), join(folder, "changes")];
  const [path, changedPath] = [join(folder, "snapshot"), join(folder, "changed")];
  await writeDataset(usersOf[size] ?? 0, dataset);
  const imported = await runCommand("import", dataset, "--to", path);
  rmSync(dataset);
  copyFileSync(path, changedPath);
  writeFileSync(changes, `{"type":"user","id":1,"public":false}\n`);
  const applied = await runCommand("apply", changes, "--to", changedPath);
  const figures = {
    apply: applied.seconds,
    import: imported.seconds,
    "apply, processor time": applied.processorSeconds,
    "import, processor time": imported.processorSeconds,
    "snapshot file": statSync(path).size / 1e6,
    "import, peak": imported.peakMegabytes,
    "apply, peak": applied.peakMegabytes,
  };
  return { size, path, changedPath, figures };
}

/**
 * Times requests, each with a different URL; the first half only warms up the servers. They
 * alternate between the sizes, so that other load on the machine affects all sizes equally.
 */
async function timeRequests(communities: Community[]) {
  const targets = await Promise.all(
    communities.map(async (community) => {
      const users = usersOf[community.size] ?? 0;
      const random = createRandom(users);
      const sampleUser = createUserSampler(users, random);
      const server = await openRoadbook(["--snapshot", community.path, "--search-limit", "0"]);
      const connection = await connect(server.origin);
      const [profiles, searches]: [number[], number[]] = [[], []];
      return { community, random, sampleUser, server, connection, profiles, searches };
    }),
  );
  for (let count = 0; count < 2 * REQUESTS; count++) {
    for (const { random, sampleUser, connection, profiles, searches } of targets) {
      const letters = [...sampleUser().name];
      const from = random.below(letters.length - 1);
      const length = 2 + random.below(letters.length - from - 1);
      const query = letters.slice(from, from + length).join("");
      const search = searchPath([...query.trim()].length < 2 ? "an" : query);
      profiles.push(await timeRequest(connection, `/users/public/${sampleUser().id}?n=${count}`));
      searches.push(await timeRequest(connection, `${search}&n=${count}`));
    }
  }
  const secondsAt = (times: number[], share: number) =>
    quantile(times.slice(REQUESTS), share) / 1000;
  const results = targets.map(({ community, server, profiles, searches }) => ({
    community,
    times: {
      "profile, p50": secondsAt(profiles, 0.5),
      "profile, p99": secondsAt(profiles, 0.99),
      "search, p50": secondsAt(searches, 0.5),
      "search, p99": secondsAt(searches, 0.99),
      "server's memory": megabytesOf(server.pid, "RssAnon"),
    },
  }));
  for (const { connection, server } of targets) {
    connection.close();
    await server.close();
  }
  return results;
}

async function timeRequest(connection: Connection, path: string): Promise<number> {
  let response = "";
  const ms = await timed(async () => {
    response = await connection.get(path);
  });
  if (!response.startsWith("HTTP/1.1 200 ")) throw new Error(`${path}: ${response}`);
  return ms;
}

/** Returns the seconds from starting the process until it prints the ready line. */
function timeStart(path: string, ...flags: string[]): Promise<number> {
  return medianOf(ROUNDS, async () => {
    const start = performance.now();
    const server = await openExecutable(["--snapshot", path, ...flags]);
    const ms = performance.now() - start;
    await server.close();
    return ms;
  });
}

/** Returns the seconds from renaming a file until the server first responds from the new file. */
async function timeSwap(path: string, changedPath: string): Promise<number> {
  const served = `${path}.served`;
  copyFileSync(path, served);
  const server = await openExecutable(["--snapshot", served]);
  // The order is reversed in each round, so that the two files alternate.
  const files = [path, changedPath];
  const seconds = await medianOf(ROUNDS, async () => {
    copyFileSync(files.reverse()[0] ?? "", `${served}.new`);
    return timeUntilSwapped(server, () => renameSync(`${served}.new`, served));
  });
  await server.close();
  rmSync(served);
  return seconds;
}

/** Calls `time`, which returns milliseconds, once per round. Returns the median in seconds. */
async function medianOf(rounds: number, time: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  while (times.length < rounds) times.push(await time());
  return median(times) / 1000;
}

function formatTable(sizes: string[], figures: Figures[]): string {
  const rows = Object.entries(metrics).map(([metric, unit]) => {
    const values = figures.map((figuresOfSize) => figuresOfSize[metric as Metric]);
    const [before = 0, last = 0] = values.slice(-2);
    return [metric, ...values.map((value) => format(value, unit)), digits(last / before)];
  });
  return tableOf(["", ...[...sizes, "last tenfold, ×"].map((title) => `${title}:`)], rows);
}

function format(value: number, unit: "s" | "MB"): string {
  if (unit === "MB") return value < 1000 ? `${digits(value)} MB` : `${digits(value / 1000)} GB`;
  if (value < 1e-3) return `${digits(value * 1e6)} µs`;
  return value < 1 ? `${digits(value * 1e3)} ms` : `${digits(value)} s`;
}

const digits = (value: number) => String(Number(value.toPrecision(value < 100 ? 2 : 3)));
