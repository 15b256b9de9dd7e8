/** Deliberate failures for tests and benchmarks: killed writers, flipped bits, swaps and floods. */
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createRandom } from "../../src/community/random.ts";
import {
  exported,
  listBeside,
  makeFile,
  makeSeeded,
  makeSnapshot,
  succeed,
  user,
} from "../datasets.ts";
import { executable, openExecutable, type Target, temporaryFolder, until } from "../support.ts";

/** Atomically replaces `target` with a copy of the file `by`. */
export function replace(target: string, by: string): void {
  copyFileSync(by, `${target}.copy`);
  renameSync(`${target}.copy`, target);
}

interface Kills {
  /** The number of writers that were killed before they replaced the snapshot. */
  unfinished: number;
  /** Responses other than 403 to requests for private users. */
  wrong: string[];
  /** Files from a killed writer that the next writer did not remove. */
  leftovers: string[];
}

/**
 * Starts `count` imports or applies, one after another, and kills each at a random moment. After
 * each kill, replaces the snapshot half of the time, applies a change, checks the file, and
 * requests every private user from a running server.
 */
export async function killWriters(count: number, seed: number, users = 1000): Promise<Kills> {
  const random = createRandom(seed);
  const communities = await Promise.all([seed, seed + 1].map((one) => makeSeeded(users, one)));
  const privateIds = new Map<string, Set<number>>();
  for (const { snapshot } of communities) {
    privateIds.set(snapshot, listPrivate(await exported(snapshot)));
  }
  const [first] = communities;
  if (!first) throw new Error("no community");
  const target = join(temporaryFolder(), "snapshot");
  copyFileSync(first.snapshot, target);
  let truth = new Set(privateIds.get(first.snapshot));
  const server = await openExecutable(["--snapshot", target, "--log-level", "silent"]);
  const result: Kills = { unfinished: 0, wrong: [], leftovers: [] };
  const program = await executable();
  const durations = new Map<boolean, number>();

  for (let kills = 0; kills < count; kills++) {
    const other = communities[kills % 2] ?? first;
    const goes = listPublic(await exported(target)).slice(0, 20);
    const isImport = random.next() < 0.5;
    const words = isImport
      ? ["import", other.dataset]
      : ["apply", makeFile(goes.map((id) => ({ type: "user", id, public: false })))];
    const usualMs =
      durations.get(isImport) ??
      (await timeCommand([program, ...words, "--to", `${target}-trial`], target));
    durations.set(isImport, usualMs);
    const before = statSync(target).ino;
    const child = Bun.spawn([program, ...words, "--to", target], {
      stdout: "ignore",
      stderr: "ignore",
    });
    await Bun.sleep(random.next() * usualMs * 1.1);
    child.kill("SIGKILL");
    await child.exited;
    if (statSync(target).ino === before) result.unfinished++;
    else truth = isImport ? new Set(privateIds.get(other.snapshot)) : truth.union(new Set(goes));
    if (random.next() < 0.5) {
      const by = communities[Math.floor(random.next() * 2)] ?? first;
      replace(target, by.snapshot);
      truth = new Set(privateIds.get(by.snapshot));
    }
    const [last = 0] = listPublic(await exported(target)).slice(-1);
    await succeed(["apply", makeFile([{ type: "user", id: last, public: false }]), "--to", target]);
    truth.add(last);
    result.leftovers.push(...listBeside(target).filter((name) => name !== "snapshot"));
    const sha256 = readFileSync(target, "latin1").slice(-65, -1);
    process.kill(server.pid, "SIGHUP");
    await until(async () => (await healthOf(server)).snapshot.sha256 === sha256);
    for (const id of truth) {
      const { status } = await server.fetch(`/users/public/${id}`);
      if (status !== 403) result.wrong.push(`kill ${kills}: user ${id} is a ${status}`);
    }
  }
  await server.close();
  return result;
}

/** Measures how many milliseconds a writer takes when it is not killed. */
async function timeCommand(command: string[], target: string): Promise<number> {
  copyFileSync(target, `${target}-trial`);
  const start = performance.now();
  await Bun.spawn(command, { stdout: "ignore" }).exited;
  await Bun.$`rm -f ${`${target}-trial`} ${join(dirname(target), ".snapshot-trial.lock")}`;
  return performance.now() - start;
}

function listPublic(dataset: string): number[] {
  return [...dataset.matchAll(/^\{"type":"user","id":(\d+),"public":true/gm)].map(([, id]) =>
    Number(id),
  );
}

function listPrivate(dataset: string): Set<number> {
  return new Set(
    [...dataset.matchAll(/^\{"type":"user","id":(\d+),"public":false/gm)].map(([, id]) =>
      Number(id),
    ),
  );
}

/**
 * Replaces a served snapshot `count` times, each time with a copy in which one bit is flipped. A
 * third of the flips are in the header, a third in the trailer, and a third between them. Returns
 * the byte offsets of the flips that the server did not notice.
 */
export async function flipBits(snapshot: string, count: number, seed: number): Promise<number[]> {
  const random = createRandom(seed);
  const target = join(temporaryFolder(), "snapshot");
  copyFileSync(snapshot, target);
  let log = "";
  const server = await openExecutable(["--snapshot", target], (text) => {
    log += text;
  });
  const bytes = readFileSync(snapshot);
  const unnoticed: number[] = [];
  const regions = [
    [0, 100],
    [100, bytes.length - 81],
    [bytes.length - 81, bytes.length],
  ] as const;
  const refused = () => log.split("; serving the old snapshot").length - 1;
  const swapped = () => log.split("serving a new snapshot").length - 1;
  for (let flips = 1; flips <= count; flips++) {
    const [from, to] = regions[flips % 3] ?? regions[1];
    const at = from + Math.floor(random.next() * (to - from));
    const before = swapped();
    flip(bytes, at, flips);
    writeFileSync(`${target}.copy`, bytes);
    flip(bytes, at, flips);
    renameSync(`${target}.copy`, target);
    process.kill(server.pid, "SIGHUP");
    await until(() => refused() + swapped() >= flips);
    if (swapped() > before) unnoticed.push(at);
  }
  await server.close();
  return unnoticed;
}

function flip(bytes: Buffer, at: number, bit: number): void {
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit % 8));
}

/**
 * Swaps the served snapshot between two communities while clients send requests. No text occurs in
 * both communities. Returns how many responses came from each community, and the responses that
 * failed or mixed both.
 */
export async function swapUnderLoad(
  swaps: number,
): Promise<{ alpha: number; omega: number; wrong: string[] }> {
  const [alpha = "", omega = ""] = await Promise.all(["Alpha", "Omega"].map(makeUniform));
  const snapshot = join(temporaryFolder(), "snapshot");
  copyFileSync(alpha, snapshot);
  const server = await openExecutable([
    "--snapshot",
    snapshot,
    "--search-limit",
    "0",
    "--log-level",
    "fatal",
  ]);
  const paths = [
    "/search/users?q=driver",
    "/search/users?q=company",
    "/users/public/7",
    "/search/companies?q=co",
    "/health",
  ];
  const result = { alpha: 0, omega: 0, wrong: [] as string[] };
  let isOver = false;
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let count = client; !isOver; count++) {
      const response = await server.fetch(paths[count % paths.length] ?? "/");
      const text = await response.text();
      const [isAlpha, isOmega] = [text.includes("Alpha"), text.includes("Omega")];
      if (response.status !== 200 || (isAlpha && isOmega)) {
        result.wrong.push(`${response.status}: ${text}`);
      }
      if (isAlpha) result.alpha++;
      if (isOmega) result.omega++;
    }
  });
  for (let count = 0; count < swaps; count++) {
    replace(snapshot, count % 2 ? alpha : omega);
    process.kill(server.pid, "SIGHUP");
    const now = count % 2 ? "alpha" : "omega";
    const before = result[now];
    await until(() => result[now] > before);
  }
  isOver = true;
  await Promise.all(clients);
  await server.close();
  return result;
}

interface Flood {
  /** The number of downloads that were started. */
  downloads: number;
  /** The peak disk use of the downloads in bytes, excluding the snapshot that is being served. */
  mostBytes: number;
  /** The longest response time during the flood. */
  longestMs: number;
  /** The longest response time in an equally long period before the flood. */
  longestBeforeMs: number;
  /** Responses other than 200, and the peak disk use if it is over 1 MB above the declared size. */
  wrong: string[];
}

/**
 * For `durationMs`, makes a server download endless bodies whose header declares a size of
 * `declaredBytes`. During that time, and for equally long before it, keeps requesting a profile.
 */
export async function floodDisk(declaredBytes: number, durationMs: number): Promise<Flood> {
  const good = readFileSync(await makeSnapshot());
  const head = Buffer.from(good);
  head.writeUInt32BE(Math.floor(declaredBytes / head.readUInt16BE(16)), 28);
  const next = Buffer.alloc(2 ** 18);
  let isFlooding = false;
  let downloads = 0;
  const source = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      if (!isFlooding) return new Response(new Uint8Array(good));
      downloads++;
      let isFirst = true;
      const pull = async (controller: ReadableStreamDefaultController) => {
        controller.enqueue(isFirst ? head : next);
        isFirst = false;
        await Bun.sleep(0);
      };
      return new Response(new ReadableStream({ pull }));
    },
  });
  const cache = temporaryFolder();
  const server = await openExecutable([
    ...["--snapshot", `${source.url.origin}/x.snapshot`, "--cache-dir", cache],
    ...["--refresh", "20ms", "--log-level", "silent"],
  ]);
  const servedBytes = bytesIn(cache);
  const result: Flood = {
    downloads: 0,
    mostBytes: 0,
    longestMs: 0,
    longestBeforeMs: 0,
    wrong: [],
  };
  const request = async () => {
    const start = performance.now();
    const { status } = await server.fetch("/users/public/42");
    if (status !== 200) result.wrong.push(`status ${status}`);
    return performance.now() - start;
  };
  const start = performance.now();
  while (performance.now() < start + durationMs) {
    result.longestBeforeMs = Math.max(result.longestBeforeMs, await request());
    await Bun.sleep(1);
  }
  isFlooding = true;
  while (performance.now() < start + 2 * durationMs) {
    result.longestMs = Math.max(result.longestMs, await request());
    result.mostBytes = Math.max(result.mostBytes, bytesIn(cache) - servedBytes);
    await Bun.sleep(1);
  }
  result.downloads = downloads;
  if (result.mostBytes > declaredBytes + 1e6) result.wrong.push(`${result.mostBytes} bytes`);
  await server.close();
  await source.stop(true);
  return result;
}

/**
 * Returns the total size of all files in a folder. Files that appear or disappear during the call
 * might be missed.
 */
function bytesIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const sizes = names.map((name) => statSync(join(folder, name), { throwIfNoEntry: false }));
  return sizes.reduce((sum, found) => sum + (found?.isFile() ? found.size : 0), 0);
}

/** Makes a snapshot in which every text field ends with `word`. */
async function makeUniform(word: string): Promise<string> {
  return makeSnapshot([
    { type: "role", id: 1, name: `Role ${word}`, hierarchy: 1 },
    { type: "company", id: 1, name: `Company ${word}`, member_count: 5 },
    ...Array.from({ length: 40 }, (_, index) =>
      user(index + 1, `Driver ${index} ${word}`, { company: { id: 1, role: word }, roles: [1] }),
    ),
  ]);
}

export interface Health {
  snapshot: { sha256: string; counts: { users: number } };
  refused_replacement: string | null;
}

export async function healthOf(server: Target): Promise<Health> {
  return (await (await server.fetch("/health")).json()) as Health;
}
