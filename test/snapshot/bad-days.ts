/** Deliberate failures for tests and benchmarks: killed writers, and swaps under load. */
import { copyFileSync, readFileSync, renameSync, statSync } from "node:fs";
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
