/** Starts and stops the servers being compared, and makes their data from the same community. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "#sqlite";
import { seedDataset } from "../../src/community/community.ts";
import { Random } from "../../src/domain/random.ts";
import {
  executable,
  megabytesOf,
  openExecutable,
  spawnServer,
  type Target,
  temporaryFolder,
} from "../../test/support.ts";
import type { Options } from "./measure.ts";
import type { FloorContent } from "./rivals/floor.ts";
import { addTrigrams, makeTables } from "./rivals/tables.ts";

export const sizes: Record<string, number> = {
  "1k": 1e3,
  "10k": 1e4,
  "100k": 1e5,
  "1M": 1e6,
  "10M": 1e7,
};

/** The community that `roadbook seed --users N` generates by default. */
const communityOptions = (users: number) => ({
  users,
  companies: Math.ceil(users / 25),
  seed: 1,
});

interface SampledUser {
  id: number;
  name: string;
}

/** Returns a function that picks a random public user from the snapshot at `path`. */
export function createUserSampler(path: string, random: Random): () => SampledUser {
  const client = sqlite.openImmutable(path).$client;
  const last = client.prepare<SampledUser>("SELECT id, name FROM user ORDER BY id DESC").get();
  if (!last) throw new Error(`${path} has no public users`);
  const find = client.prepare<SampledUser>("SELECT id, name FROM user WHERE id = ?");
  return function sample(): SampledUser {
    return find.get(1 + random.below(last.id)) ?? sample();
  };
}

export async function writeDataset(users: number, dataset: string): Promise<void> {
  await runCommand("seed", "--users", `${users}`, "--to", dataset);
}

/**
 * Returns the path of the community's snapshot as an executable imports it, which happens once: the
 * file is kept for later runs of the same executable.
 */
export async function buildSnapshot(users: number, program?: string): Promise<string> {
  const importer = program ?? (await executable());
  const build = Bun.hash(readFileSync(importer)).toString(36);
  const path = join(tmpdir(), `roadbook-bench-${users}-${build}.snapshot`);
  if (existsSync(path)) return path;
  const dataset = join(temporaryFolder(), "dataset");
  await writeDataset(users, dataset);
  await runProgram(importer, "import", dataset, "--to", path);
  rmSync(dataset);
  return path;
}

/** Runs the executable until it exits, and throws if it fails. */
export async function runCommand(...args: string[]) {
  return runProgram(await executable(), ...args);
}

export async function runProgram(program: string, ...args: string[]) {
  const start = performance.now();
  const child = Bun.spawn([program, ...args], { stdout: "ignore", stderr: "inherit" });
  // VmHWM is polled, because resourceUsage().maxRSS is at least the memory of this process.
  let peakMegabytes = Number.NaN;
  const watch = setInterval(() => {
    peakMegabytes = megabytesOf(child.pid, "VmHWM") || peakMegabytes;
  }, 10);
  const code = await child.exited;
  clearInterval(watch);
  if (code !== 0) throw new Error(`${args[0]} failed`);
  const seconds = (performance.now() - start) / 1000;
  const processorSeconds = Number(child.resourceUsage()?.cpuTime.total) / 1e6;
  return { seconds, processorSeconds, peakMegabytes };
}

export interface Server {
  origin: string;
  pid: number;
  close(): Promise<unknown>;
}

export async function openRoadbook(args: string[]) {
  const server = await openExecutable(args);
  cleanups.push(server.close);
  return server;
}

/** Starts the other executable, if there is one, with the snapshot that it has imported. */
export async function openBeside({ beside, users }: Options, flags: string[]) {
  if (beside === undefined) return {};
  const snapshot = await buildSnapshot(users, beside);
  const command = [beside, "serve", "--port", "0", "--snapshot", snapshot, ...flags];
  return { [BESIDE]: await openServer(command) };
}

export const ROADBOOK = "Roadbook";
export const BESIDE = "Roadbook, beside";
export const FLOOR = "floor";
export const ORDINARY = "ordinary app";

export const generateLines = (users: number) => seedDataset(communityOptions(users));

/** Returns the path of the rivals' database, which is created once and kept for later runs. */
export function buildTables(users: number): string {
  const path = join(tmpdir(), `roadbook-bench-trigram-tables-${users}.sqlite`);
  if (existsSync(path)) return path;
  rmSync(`${path}.new`, { force: true });
  makeTables(`${path}.new`, generateLines(users));
  addTrigrams(`${path}.new`);
  renameSync(`${path}.new`, path);
  return path;
}

/** Returns a start function for each rival. All rivals are typical implementations. */
export function listRivals(users: number): Record<string, () => Promise<Server>> {
  const tables = buildTables(users);
  const open = (runtime: string, file: string, ...args: string[]) =>
    openServer([runtime, join(import.meta.dir, "rivals", file), tables, ...args]);
  const node = Bun.which("node") ? Bun.spawnSync(["node", "--version"]).stdout.toString() : "";
  // better-sqlite3 crashes in older versions of Node.js.
  const hasNode = Number(/\d+/.exec(node)) >= 22;
  if (!hasNode) console.error("Fastify is skipped: it needs Node.js 22 or newer on the PATH");
  return {
    "Elysia, drizzle, `LIKE`": () => open(process.execPath, "elysia.ts"),
    "Elysia, drizzle, FTS5 trigram": () => open(process.execPath, "elysia.ts", "trigram"),
    ...(hasNode && { "Fastify, `LIKE`": () => open("node", "fastify.mjs") }),
  };
}

export async function openRivals(users: number): Promise<Record<string, Server>> {
  const servers: Record<string, Server> = {};
  for (const [name, open] of Object.entries(listRivals(users))) servers[name] = await open();
  return servers;
}

export const openOrdinary = (users: number): Promise<Server> =>
  openServer([process.execPath, join(import.meta.dir, "rivals/ordinary.ts"), buildTables(users)]);

/** Starts the floor with Roadbook's own responses for these paths. */
export async function openFloor(roadbook: Target, paths: string[]): Promise<Server> {
  const content: FloorContent = { bodies: {}, headers: { users: {}, search: {} } };
  for (const path of new Set(paths)) {
    const headers = { "accept-encoding": "identity" };
    const response = await fetch(roadbook.origin + path, { headers });
    content.bodies[decodeURIComponent(path)] = await response.text();
    // The floor computes these headers for each response.
    const computed = /^(date|content-length|content-type|etag|x-request-id)$/;
    content.headers[path.startsWith("/search") ? "search" : "users"] = Object.fromEntries(
      [...response.headers].filter(([name]) => !computed.test(name)),
    );
  }
  const file = join(temporaryFolder(), "content.json");
  writeFileSync(file, JSON.stringify(content));
  return openServer([process.execPath, join(import.meta.dir, "rivals/floor.ts"), file]);
}

/** Starts a program that prints the same ready line as `serve`. */
export async function openServer(command: string[]): Promise<Server> {
  const server = await spawnServer(command, { env: { ...process.env, NODE_ENV: "production" } });
  cleanups.push(server.close);
  return server;
}

const cleanups: (() => Promise<unknown>)[] = [];

/** Stops all processes that a bench has left running, even if the bench failed. */
export async function closeAll(): Promise<void> {
  await Promise.allSettled(cleanups.splice(0).map((cleanup) => cleanup()));
}

export const searchPath = (query: string) => `/search/users?q=${encodeURIComponent(query)}`;

/** The sample is so large that a random path is rarely in the processor's or SQLite's cache. */
const SAMPLE_SIZE = 20_000;

/** Returns request paths of each kind, for random users of a snapshot, which has `users`. */
export function samplePaths(snapshot: string, users: number) {
  const sampleUser = createUserSampler(snapshot, new Random(1));
  const sample = Array.from({ length: Math.min(SAMPLE_SIZE, users) }, sampleUser);
  const searchesFor = (length: number) =>
    sample
      .map(({ name }) => [...name].slice(0, length).join(""))
      .filter((text) => text.trim().length >= length)
      .map(searchPath);
  return {
    profiles: sample.map(({ id }) => `/users/public/${id}`),
    achievements: sample.map(({ id }) => `/users/${id}/achievements`),
    twoLetters: searchesFor(2),
    fiveLetters: searchesFor(5),
  };
}
