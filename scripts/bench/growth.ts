/**
 * Measures how times, memory and file sizes grow with the number of users, using the executable and
 * generated communities.
 */
import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Random } from "../../src/domain/random.ts";
import { megabytesOf, openExecutable, temporaryFolder } from "../../test/support.ts";
import { type Connection, connect } from "./connection.ts";
import { format, median, type Options, quantile, tableOf, timed } from "./measure.ts";
import {
  createUserSampler,
  openRoadbook,
  runCommand,
  searchPath,
  sizes as usersOf,
  writeDataset,
} from "./server.ts";

const REQUESTS = 2000;
const ROUNDS = 5;

type Community = Awaited<ReturnType<typeof build>>;

/** Measures all sizes from 10k to the given one. */
export async function benchGrowth({ users, isQuick }: Options): Promise<void> {
  const max = isQuick ? 100_000 : users;
  const sizes = ["10k", "100k", "1M", "10M"].filter((size) => (usersOf[size] ?? 0) <= max);
  const communities: Community[] = [];
  for (const size of sizes) communities.push(await build(usersOf[size] ?? 0));
  const times = await timeRequests(communities);
  const measured: Record<string, number>[] = [];
  for (const [at, { path, changedPath, figures }] of communities.entries()) {
    const served = {
      "start to ready, ms": await timeStart(path),
      "swap, ms": await timeSwap(path, changedPath),
    };
    measured.push({ ...times[at], ...served, ...figures });
  }
  const rows = Object.keys(measured[0] ?? {}).map((name) => {
    const values = measured.map((figures) => figures[name] ?? Number.NaN);
    const [before = 0, last = 0] = values.slice(-2);
    return [name, ...[...values, last / before].map(format)];
  });
  console.log(tableOf(["", ...[...sizes, "last tenfold, ×"].map((title) => `${title}:`)], rows));
}

/** Builds a snapshot, and a changed copy in which one user has become private. */
async function build(users: number) {
  const folder = temporaryFolder();
  const dataset = join(folder, "dataset");
  const changes = join(folder, "changes");
  const path = join(folder, "snapshot");
  const changedPath = join(folder, "changed");
  await writeDataset(users, dataset);
  const imported = await runCommand("import", dataset, "--to", path);
  rmSync(dataset);
  copyFileSync(path, changedPath);
  writeFileSync(changes, `{"type":"user","id":1,"public":false}\n`);
  const applied = await runCommand("apply", changes, "--to", changedPath);
  const figures = {
    "apply, s": applied.seconds,
    "import, s": imported.seconds,
    "apply, processor s": applied.processorSeconds,
    "import, processor s": imported.processorSeconds,
    "snapshot file, MB": statSync(path).size / 1e6,
    "import, peak, MB": imported.peakMegabytes,
    "apply, peak, MB": applied.peakMegabytes,
  };
  return { users, path, changedPath, figures };
}

/**
 * Times requests, each with a different URL; the first half only warms up the servers. They
 * alternate between the sizes, so that other load on the machine affects all sizes equally.
 */
async function timeRequests(communities: Community[]) {
  const targets = await Promise.all(
    communities.map(async ({ users, path }) => {
      const random = new Random(users);
      const sampleUser = createUserSampler(path, random);
      const server = await openRoadbook(["--snapshot", path, "--search-limit", "0"]);
      const connection = await connect(server.origin);
      const profiles: number[] = [];
      const searches: number[] = [];
      return { random, sampleUser, server, connection, profiles, searches };
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
  const quantileOf = (times: number[], share: number) => quantile(times.slice(REQUESTS), share);
  const results = targets.map(({ server, profiles, searches }) => ({
    "profile, p50, ms": quantileOf(profiles, 0.5),
    "profile, p99, ms": quantileOf(profiles, 0.99),
    "search, p50, ms": quantileOf(searches, 0.5),
    "search, p99, ms": quantileOf(searches, 0.99),
    "server's memory, MB": megabytesOf(server.pid, "RssAnon"),
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

/** Returns the milliseconds from starting the process until it prints the ready line. */
function timeStart(path: string): Promise<number> {
  return medianOfRounds(async () => {
    const start = performance.now();
    const server = await openExecutable(["--snapshot", path]);
    const ms = performance.now() - start;
    await server.close();
    return ms;
  });
}

/** Returns the milliseconds from renaming a file until the server responds from the new file. */
async function timeSwap(path: string, changedPath: string): Promise<number> {
  const served = `${path}.served`;
  copyFileSync(path, served);
  const server = await openExecutable(["--snapshot", served]);
  const identity = async () => (await (await server.fetch("/health")).json()).snapshot.sha256;
  // The order is reversed in each round, so that the two files alternate.
  const files = [path, changedPath];
  const ms = await medianOfRounds(async () => {
    copyFileSync(files.reverse()[0] ?? "", `${served}.new`);
    const before = await identity();
    return timed(async () => {
      renameSync(`${served}.new`, served);
      while ((await identity()) === before) await Bun.sleep(1);
    });
  });
  await server.close();
  rmSync(served);
  return ms;
}

async function medianOfRounds(time: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  while (times.length < ROUNDS) times.push(await time());
  return median(times);
}
