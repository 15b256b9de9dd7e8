/** Deliberate failures: killed writers, and swaps under load. */
import { expect } from "bun:test";
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
import {
  executable,
  openExecutable,
  type Target,
  temporaryFolder,
  underLoad,
  until,
} from "../support.ts";

/** Atomically replaces `target` with a copy of the file `by`. */
export function replace(target: string, by: string): void {
  copyFileSync(by, `${target}.copy`);
  renameSync(`${target}.copy`, target);
}

/**
 * Starts `count` imports or applies, one after another, and kills each at a random moment. After
 * each kill, replaces the snapshot half of the time, applies a change, checks the file, and
 * requests every private user from a running server. Returns how many writers were killed before
 * they replaced the snapshot, which of the responses were no 403, and which files of a killed
 * writer the next one did not remove.
 */
export async function killWriters(count: number, seed: number, users: number) {
  const random = createRandom(seed);
  const communities = await Promise.all([seed, seed + 1].map((one) => makeSeeded(users, one)));
  const privateIn = async (snapshot: string) => new Set(listUsers(await exported(snapshot), false));
  const [first = expect.unreachable()] = communities;
  const target = join(temporaryFolder(), "snapshot");
  copyFileSync(first.snapshot, target);
  let truth = await privateIn(target);
  const server = await openExecutable(["--snapshot", target, "--log-level", "silent"]);
  const result = { unfinished: 0, wrong: [] as string[], leftovers: [] as string[] };
  const program = await executable();
  const durations = new Map<boolean, number>();

  for (let kills = 0; kills < count; kills++) {
    const other = communities[kills % 2] ?? first;
    const goes = listUsers(await exported(target), true).slice(0, 20);
    const isImport = random.next() < 0.5;
    const words = isImport
      ? ["import", other.dataset, "--allow-reveal", "--allow-shrink"]
      : ["apply", makeFile(goes.map((id) => ({ type: "user", id, public: false })))];
    const usualMs =
      durations.get(isImport) ??
      (await timeCommand([program, ...words, "--to", `${target}-trial`], target));
    durations.set(isImport, usualMs);
    const before = statSync(target).ino;
    const options = { stdout: "ignore", stderr: "ignore" } as const;
    const child = Bun.spawn([program, ...words, "--to", target], options);
    await Bun.sleep(random.next() * usualMs * 1.1);
    child.kill("SIGKILL");
    await child.exited;
    if (statSync(target).ino === before) result.unfinished++;
    else truth = isImport ? await privateIn(other.snapshot) : truth.union(new Set(goes));
    if (random.next() < 0.5) {
      const { snapshot } = random.pick(communities);
      replace(target, snapshot);
      truth = await privateIn(snapshot);
    }
    const [last = 0] = listUsers(await exported(target), true).slice(-1);
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

function listUsers(dataset: string, isPublic: boolean): number[] {
  const lines = dataset.matchAll(/^\{"type":"user","id":(\d+),"public":(true|false)/gm);
  return [...lines].flatMap(([, id, value]) => (value === `${isPublic}` ? Number(id) : []));
}

/**
 * Swaps the served snapshot between two communities while clients send requests. No text occurs in
 * both communities. Returns the distinct words of the communities in a response, or the errors.
 */
export async function swapUnderLoad(swaps: number): Promise<Set<string>> {
  const [alpha = "", omega = ""] = await Promise.all(["Alpha", "Omega"].map(makeUniform));
  const snapshot = join(temporaryFolder(), "snapshot");
  copyFileSync(alpha, snapshot);
  const flags = ["--search-limit", "0", "--log-level", "fatal"];
  const server = await openExecutable(["--snapshot", snapshot, ...flags]);
  const searches = ["/search/users?q=driver", "/search/users?q=company", "/search/companies?q=co"];
  const paths = [...searches, "/users/public/7", "/health"];
  let count = 0;
  const ask = async () => {
    const response = await server.fetch(paths[count++ % paths.length] ?? "/");
    const text = await response.text();
    return response.ok ? [...new Set(text.match(/Alpha|Omega/g))].join() : text;
  };
  const seen = await underLoad(ask, async () => {
    for (let swap = 0; swap < swaps; swap++) {
      replace(snapshot, swap % 2 ? alpha : omega);
      process.kill(server.pid, "SIGHUP");
      await until(async () => (await ask()) === (swap % 2 ? "Alpha" : "Omega"));
    }
  });
  await server.close();
  return seen;
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

interface Health {
  snapshot: { sha256: string };
  refused_replacement: string | null;
}

export async function healthOf(server: Target): Promise<Health> {
  return (await server.fetch("/health")).json();
}
