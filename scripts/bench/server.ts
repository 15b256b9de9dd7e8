/**
 * Owns the subjects of the benches: the executable and its rivals as processes, and their
 * communities.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCommunity, seedDataset } from "../../src/community/community.ts";
import { createRandom, type Random } from "../../src/community/random.ts";
import { SCHEMA_VERSION } from "../../src/snapshot/format/file.ts";
import {
  executable,
  openExecutable,
  readyOrigin,
  type Target,
  temporaryFolder,
} from "../../test/support.ts";
import { megabytesOf, timed } from "./measure.ts";
import type { FloorContent } from "./rivals/floor.ts";
import { makeTables } from "./rivals/tables.ts";

export const sizes: Record<string, number> = { "10k": 1e4, "100k": 1e5, "1M": 1e6, "10M": 1e7 };

/** As `roadbook seed` has it. */
const communityOf = (users: number) => ({ users, companies: Math.ceil(users / 25), seed: 1 });

/** Draws a public user of the community of that size. */
export function createDraw(users: number, random: Random): () => { id: number; name: string } {
  const community = createCommunity(communityOf(users));
  return function draw(): { id: number; name: string } {
    const user = community.user(random.below(users));
    return user.public ? user : draw();
  };
}

/** A dataset of the community of that size. */
export async function seed(users: number, dataset: string): Promise<void> {
  await command("seed", "--users", `${users}`, "--to", dataset);
}

/** The snapshot of the community of that size, imported by the executable unless it exists. */
export async function buildSnapshot(users: number): Promise<string> {
  const path = join(tmpdir(), `roadbook-bench-schema-${SCHEMA_VERSION}-${users}.snapshot`);
  if (existsSync(path)) return path;
  const dataset = join(temporaryFolder(), "dataset");
  await seed(users, dataset);
  await command("import", dataset, "--to", path);
  rmSync(dataset);
  return path;
}

/** Runs the executable to its end. */
export async function command(...words: string[]) {
  const program = await executable();
  const start = performance.now();
  const child = Bun.spawn([program, ...words], { stdout: "ignore", stderr: "inherit" });
  // The system's own peak of a child is never less than what its parent had when it started it.
  let peakMegabytes = Number.NaN;
  const watch = setInterval(() => {
    peakMegabytes = megabytesOf(child.pid, "VmHWM") || peakMegabytes;
  }, 10);
  const code = await child.exited;
  clearInterval(watch);
  if (code !== 0) throw new Error(`${words[0]} failed`);
  const seconds = (performance.now() - start) / 1000;
  const processorSeconds = Number(child.resourceUsage()?.cpuTime.total) / 1e6;
  return { seconds, processorSeconds, peakMegabytes };
}

export interface Server {
  origin: string;
  pid: number;
  close(): Promise<void>;
}

/** The executable serving. */
export async function openRoadbook(words: string[]) {
  const server = await openExecutable(words);
  opened.push(server.close);
  return server;
}

export const OURS = "Roadbook";
export const FLOOR = "floor";
export const ELYSIA = "Elysia, drizzle, `LIKE`";
export const FASTIFY = "Fastify, `LIKE`";

/** The dataset of the community of that size, as it is made. */
export const communityLines = (users: number) => seedDataset(communityOf(users));

/** The path of the rivals' database of the community of that size, made unless it exists. */
export function buildTables(users: number): string {
  const path = join(tmpdir(), `roadbook-bench-tables-${users}.sqlite`);
  if (!existsSync(path)) makeTables(path, communityLines(users));
  return path;
}

/** How to start the servers that people write instead, by name. */
export function listRivals(users: number): Record<string, () => Promise<Server>> {
  const tables = buildTables(users);
  const open = (runtime: string, file: string) => () =>
    spawnServer([runtime, join(import.meta.dir, "rivals", file), tables]);
  const node = Bun.which("node") ? Bun.spawnSync(["node", "--version"]).stdout.toString() : "";
  // In an older version, better-sqlite3 takes the process down with it.
  const hasNode = Number(/\d+/.exec(node)) >= 22;
  if (!hasNode) console.error("Fastify is left out: it needs Node.js 22 or newer on the PATH");
  return {
    [ELYSIA]: open(process.execPath, "elysia.ts"),
    ...(hasNode && { [FASTIFY]: open("node", "fastify.mjs") }),
  };
}

export async function openRivals(users: number): Promise<Record<string, Server>> {
  const servers: Record<string, Server> = {};
  for (const [name, open] of Object.entries(listRivals(users))) servers[name] = await open();
  return servers;
}

/** The floor, with what Roadbook responds to those paths. */
export async function openFloor(ours: Target, paths: string[]): Promise<Server> {
  const content: FloorContent = { bodies: {}, headers: { users: {}, search: {} } };
  for (const path of new Set(paths)) {
    const headers = { "accept-encoding": "identity" };
    const response = await fetch(ours.origin + path, { headers });
    content.bodies[decodeURIComponent(path)] = await response.text();
    // The floor makes these for each response.
    const own = /^(date|content-length|content-type|etag|x-request-id)$/;
    content.headers[path.startsWith("/search") ? "search" : "users"] = Object.fromEntries(
      [...response.headers].filter(([name]) => !own.test(name)),
    );
  }
  const file = join(temporaryFolder(), "content.json");
  writeFileSync(file, JSON.stringify(content));
  return spawnServer([process.execPath, join(import.meta.dir, "rivals/floor.ts"), file]);
}

/** A program that prints the ready line. */
export async function spawnServer(words: string[]): Promise<Server> {
  const env = { ...process.env, NODE_ENV: "production" };
  const child = Bun.spawn(words, { env, stdout: "pipe" });
  const close = stopper(child);
  return { origin: await readyOrigin(child.stdout), pid: child.pid, close };
}

/**
 * Starts a database whose output is of no use. Returns how to stop it, with clients connected or
 * not.
 */
export function spawnQuiet(words: string[], cwd: string): () => Promise<void> {
  return stopper(Bun.spawn(words, { cwd, stdout: "ignore", stderr: "ignore" }), "SIGINT");
}

function stopper(child: Bun.Subprocess, signal: NodeJS.Signals = "SIGTERM"): () => Promise<void> {
  const stop = async () => {
    child.kill(signal);
    await child.exited;
  };
  opened.push(stop);
  return stop;
}

const opened: (() => Promise<void>)[] = [];

/** Closes what a bench has left open, also where it failed. */
export async function closeAll(): Promise<void> {
  await Promise.allSettled(opened.splice(0).map((close) => close()));
}

/** Milliseconds from the start of `act` until the server responds from another snapshot. */
export async function untilAnother(server: Target, act: () => unknown): Promise<number> {
  const identity = async () =>
    (await (await server.fetch("/health")).json()).snapshot.dataset_sha256 as string;
  const before = await identity();
  return timed(async () => {
    await act();
    while ((await identity()) === before) await Bun.sleep(1);
  });
}

export const searchPath = (query: string) => `/search/users?q=${encodeURIComponent(query)}`;

/** Enough that a path asked for at random is rarely in the processor's cache, or in SQLite's. */
const SAMPLE = 20_000;

/** Paths for random users of the community of that size. */
export function drawPaths(users: number, random = createRandom(1)) {
  const sample = Array.from({ length: Math.min(SAMPLE, users) }, createDraw(users, random));
  const typed = (count: number) =>
    sample
      .map(({ name }) => [...name].slice(0, count).join(""))
      .filter((text) => text.trim().length >= count)
      .map(searchPath);
  return {
    profiles: sample.map(({ id }) => `/users/public/${id}`),
    achievements: sample.map(({ id }) => `/users/${id}/achievements`),
    twoLetters: typed(2),
    fiveLetters: typed(5),
  };
}
