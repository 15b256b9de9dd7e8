/**
 * What is measured: the executable and its rivals as processes, communities made for them, and what the
 * system says of a process.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
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
import { type Community, notInstalled, type Row } from "./measure.ts";
import { makeTables } from "./rivals/tables.ts";

const sizes: Record<string, number> = { "10k": 1e4, "100k": 1e5, "1M": 1e6, "10M": 1e7 };

export class UsageError extends Error {}

export function usersOf(size: string): number {
  const users = sizes[size];
  if (!users) throw new UsageError(`a size is one of ${Object.keys(sizes).join(", ")}`);
  return users;
}

/** The size that is asked for. */
export function sizeOf(args: string[], otherwise: string): Community {
  const { size = otherwise } = parseArgs({ args, options: { size: { type: "string" } } }).values;
  return { size, users: usersOf(size) };
}

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

/** The snapshot of the community of that size, made by the executable when it is not there yet. */
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
  // What the system says of a child at its end is never less than its parent had when it started it.
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

/**
 * A process's memory: the most so far (VmHWM), now (VmRSS), and without mapped files (RssAnon). Not a
 * number when it has just ended.
 */
export function megabytesOf(pid: number, key: "VmHWM" | "VmRSS" | "RssAnon"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1000;
}

/** Processor time of a process, or of its first thread, which Linux counts in hundredths of a second. */
export function processorSecondsOf(pid: number, of: "process" | "first thread"): number {
  const path = of === "process" ? `/proc/${pid}/stat` : `/proc/${pid}/task/${pid}/stat`;
  const stat = readFileSync(path, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14);
  return (Number(user) + Number(system)) / 100;
}

export interface Server {
  origin: string;
  pid: number;
  close(): Promise<void>;
}

const FASTIFY = "Fastify, better-sqlite3, `LIKE`";

/** How to start what people write instead, with the community of that size, by name. */
export function listRivals(users: number): Record<string, () => Promise<Server>> {
  const tables = join(tmpdir(), `roadbook-bench-tables-${users}.sqlite`);
  makeTables(tables, seedDataset(communityOf(users)));
  const open = (runtime: string, file: string) => () =>
    spawnServer([runtime, join(import.meta.dir, "rivals", file), tables]);
  const node = Bun.which("node") ? Bun.spawnSync(["node", "--version"]).stdout.toString() : "";
  // The oldest that better-sqlite3 runs on: in an older one it takes the process with it.
  const hasNode = Number(/\d+/.exec(node)) >= 22;
  return {
    "Elysia, drizzle, `LIKE`": open(process.execPath, "elysia.ts"),
    ...(hasNode && { [FASTIFY]: open("node", "fastify.mjs") }),
  };
}

/** The row that stands for those beside a rival that cannot be started. */
export function* missingRivals(rivals: object, name: string): Generator<Row> {
  if (!(FASTIFY in rivals)) yield notInstalled(name, FASTIFY, "Node.js 22");
}

export async function openRivals(users: number): Promise<Record<string, Server>> {
  const servers: Record<string, Server> = {};
  for (const [name, open] of Object.entries(listRivals(users))) servers[name] = await open();
  return servers;
}

/** A program that prints the ready line. */
export async function spawnServer(command: string[]): Promise<Server> {
  const env = { ...process.env, NODE_ENV: "production" };
  const child = Bun.spawn(command, { env, stdout: "pipe" });
  const close = stopper(child);
  return { origin: await readyOrigin(child.stdout), pid: child.pid, close };
}

/** The executable serving. */
export async function openRoadbook(words: string[]) {
  const server = await openExecutable(words);
  opened.push(server.close);
  return server;
}

/** Milliseconds from the start of `act` until the server answers from another snapshot. */
export async function untilAnother(server: Target, act: () => unknown): Promise<number> {
  const identity = async () =>
    (await (await server.fetch("/health")).json()).snapshot.dataset_sha256 as string;
  const before = await identity();
  const start = performance.now();
  await act();
  while ((await identity()) === before) await Bun.sleep(1);
  return performance.now() - start;
}

/** Starts a program that says nothing of use; returns how to stop it. */
export function spawnQuiet(command: string[], cwd: string): () => Promise<void> {
  return stopper(Bun.spawn(command, { cwd, stdout: "ignore", stderr: "ignore" }));
}

function stopper(child: Bun.Subprocess): () => Promise<void> {
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  opened.push(stop);
  return stop;
}

const opened: (() => Promise<void>)[] = [];

/** Closes what a part has left open, also where it failed. */
export async function closeAll(): Promise<void> {
  await Promise.allSettled(opened.splice(0).map((close) => close()));
}

export interface Requests {
  /** Asked for at random. */
  paths: string[];
  headers?: Record<string, string>;
}

export const BARE = "bare `Bun.serve`";

/** A bare server that gives the median response of the paths, by its length, to whatever is asked. */
export async function openBare({ origin }: Server, { paths, headers }: Requests): Promise<Server> {
  const responses = await Promise.all(
    paths.slice(0, 200).map(async (path) => {
      const response = await fetch(origin + path, {
        headers: { "accept-encoding": "identity", ...headers },
      });
      const body = await response.text();
      const own = [...response.headers].filter(([name]) => !/^(date|content-length)$/.test(name));
      return { status: response.status, headers: own, body };
    }),
  );
  responses.sort((one, other) => one.body.length - other.body.length);
  const file = join(temporaryFolder(), "response.json");
  writeFileSync(file, JSON.stringify(responses[responses.length >> 1]));
  return spawnServer([process.execPath, join(import.meta.dir, "rivals/bare.ts"), file]);
}

/** So many that what is asked for is rarely in the processor's cache, or in SQLite's. */
const SAMPLE = 20_000;

/** Requests for random users of the community of that size, by kind. */
export function drawRequests(users: number) {
  const sample = Array.from({ length: SAMPLE }, createDraw(users, createRandom(1)));
  const starting = (count: number): Requests => ({
    paths: sample
      .map(({ name }) => [...name].slice(0, count).join(""))
      .filter((start) => start.trim().length >= count)
      .map(searchPath),
  });
  return {
    profile: { paths: sample.map(({ id }) => `/users/public/${id}`) },
    achievements: { paths: sample.map(({ id }) => `/users/${id}/achievements`) },
    twoCharacters: starting(2),
    fiveCharacters: starting(5),
  } satisfies Record<string, Requests>;
}

export const searchPath = (query: string) => `/search/users?q=${encodeURIComponent(query)}`;
