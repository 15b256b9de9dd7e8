/**
 * What is measured: the executable and its rivals as processes, with communities made for it; and a
 * client that adds little of its own to a request: one connection, kept open.
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
  run,
  temporaryFolder,
} from "../../test/support.ts";
import { makeTables } from "./rivals/tables.ts";

const sizes: Record<string, number> = { "10k": 1e4, "100k": 1e5, "1M": 1e6, "10M": 1e7 };

export class UsageError extends Error {}

export function usersOf(size: string): number {
  const users = sizes[size];
  if (!users) throw new UsageError(`a size is one of ${Object.keys(sizes).join(", ")}`);
  return users;
}

/** The size that a part is asked for. */
export function sizeOf(args: string[], otherwise: string): { size: string; users: number } {
  const { size } = parseArgs({ args, options: { size: { type: "string" } } }).values;
  return { size: size ?? otherwise, users: usersOf(size ?? otherwise) };
}

const communityOf = (users: number) => ({ users, companies: Math.ceil(users / 25), seed: 1 });

/** Draws a public user of the community of that size. */
export function createDraw(users: number, random: Random): () => { id: number; name: string } {
  const community = createCommunity(communityOf(users));
  return function draw(): { id: number; name: string } {
    const user = community.user(random.below(users));
    return user.public ? user : draw();
  };
}

/** Draws the name of such a user. */
export function createNamer(users: number, random: Random): () => string {
  const draw = createDraw(users, random);
  return () => draw().name;
}

/** A dataset of a community of that size. */
export async function seed(users: number, dataset: string): Promise<void> {
  const size = Object.entries(communityOf(users)).flatMap(([flag, n]) => [`--${flag}`, `${n}`]);
  await command("seed", ...size, "--to", dataset);
}

/** The snapshot of a community of that size, made by the executable when it is not there yet. */
export async function buildSnapshot(users: number): Promise<string> {
  const path = join(tmpdir(), `roadbook-bench-schema-${SCHEMA_VERSION}-${users}.snapshot`);
  if (existsSync(path)) return path;
  const dataset = join(temporaryFolder(), "dataset");
  await seed(users, dataset);
  await command("import", dataset, "--to", path);
  rmSync(dataset);
  return path;
}

export interface Spent {
  seconds: number;
  processorSeconds: number;
  peakMegabytes: number;
}

/** Runs the executable to its end. */
export async function command(...words: string[]): Promise<Spent> {
  const program = await executable();
  const start = performance.now();
  const child = Bun.spawn([program, ...words], { stdout: "ignore", stderr: "inherit" });
  // What the system says of a child at its end is never less than its parent had when it started it.
  let peakMegabytes = Number.NaN;
  const watch = setInterval(() => {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    peakMegabytes = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? peakMegabytes * 1000) / 1000;
  }, 10);
  const code = await child.exited;
  clearInterval(watch);
  if (code !== 0) throw new Error(`${words[0]} failed`);
  const seconds = (performance.now() - start) / 1000;
  const processorSeconds = Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1e6;
  return { seconds, processorSeconds, peakMegabytes };
}

export interface Server {
  origin: string;
  pid: number;
  close(): Promise<void>;
}

export const BARE = "bare `Bun.serve`";

/** What people write instead, by name: the file in `rivals`. */
export const rivals: Record<string, string> = {
  "Elysia, drizzle, `LIKE`": "elysia.ts",
  "Fastify, better-sqlite3, `LIKE`": "fastify.mjs",
};

/** A rival with the community of that size; undefined where there is no {@link NODE} for it. */
export async function openRival(name: string, users: number): Promise<Server | undefined> {
  const tables = join(tmpdir(), `roadbook-bench-tables-${users}.sqlite`);
  makeTables(tables, seedDataset(communityOf(users)));
  const file = rivals[name] ?? "";
  if (file.endsWith(".ts")) return spawnServer(process.execPath, file, tables);
  const version = Bun.which("node") ? (await run(["node", "--version"])).stdout : "";
  // The oldest that better-sqlite3 runs on: in an older one it takes the process with it.
  return Number(/\d+/.exec(version)) >= 22 ? spawnServer("node", file, tables) : undefined;
}

export const NODE = "Node.js 22";

export async function openRivals(users: number): Promise<Record<string, Server | undefined>> {
  const servers: Record<string, Server | undefined> = {};
  for (const name of Object.keys(rivals)) servers[name] = await openRival(name, users);
  return servers;
}

async function spawnServer(runtime: string, file: string, argument: string): Promise<Server> {
  const child = Bun.spawn([runtime, join(import.meta.dir, "rivals", file), argument], {
    env: { ...process.env, NODE_ENV: "production" },
    stdout: "pipe",
  });
  const { pid } = child;
  const close = stopper(child);
  return { origin: await readyOrigin(child.stdout), pid, close };
}

/** The executable serving. */
export async function openRoadbook(
  words: string[],
): Promise<Awaited<ReturnType<typeof openExecutable>>> {
  const server = await openExecutable(words);
  opened.push(server.close);
  return server;
}

/** How to stop a process. */
export function stopper(child: Bun.Subprocess): () => Promise<void> {
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

/** A bare server that gives the median response of the paths, by its length, to whatever is asked. */
export async function openBare({ origin }: Server, { paths, headers = {} }: Requests) {
  const responses = await Promise.all(
    paths.slice(0, 200).map(async (path) => {
      const response = await fetch(origin + path, {
        headers: { "accept-encoding": "identity", ...headers },
      });
      const body = await response.text();
      const own = [...response.headers].filter(([name]) => !/^(date|content-length)$/.test(name));
      return { status: response.status, headers: own, body: body === "" ? null : body };
    }),
  );
  const lengthOf = ({ body }: { body: string | null }) => Buffer.byteLength(body ?? "");
  responses.sort((one, other) => lengthOf(one) - lengthOf(other));
  const file = join(temporaryFolder(), "response.json");
  writeFileSync(file, JSON.stringify(responses[responses.length >> 1]));
  return spawnServer(process.execPath, "bare.ts", file);
}

export interface Requests {
  /** Asked for at random. */
  paths: string[];
  headers?: Record<string, string>;
}

/** So many that what is asked for is rarely in the processor's cache, or in SQLite's. */
const SAMPLE = 20_000;

/** Requests for random users of the community of that size, by kind. */
export function drawRequests(users: number) {
  const sample = Array.from({ length: SAMPLE }, createDraw(users, createRandom(1, 0)));
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

export interface Served {
  /** Milliseconds until the whole answer to a GET was there, under a URL that was not asked before. */
  time(path: string): Promise<number>;
  /** The server's own memory, without the mapped file; undefined where Linux does not tell. */
  anonymousMegabytes(): number | undefined;
  close(): Promise<void>;
}

/** A process's own memory, without mapped files; undefined where Linux does not tell. */
export function anonymousMegabytesOf(pid: number): number | undefined {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return undefined;
  return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(path, "utf8"))?.[1]) / 1000;
}

export const searchPath = (query: string) => `/search/users?q=${encodeURIComponent(query)}`;

export async function serve(snapshot: string): Promise<Served> {
  const words = ["--snapshot", snapshot, "--search-limit", "0"];
  const { origin, pid, close } = await openRoadbook(words);
  let received = "";
  let asked = 0;
  let answered = () => {};
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(origin).port),
    socket: {
      data(_, chunk) {
        received += chunk.toString("latin1");
        const head = received.indexOf("\r\n\r\n");
        const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
        if (head >= 0 && received.length >= head + 4 + Number(length ?? 0)) answered();
      },
    },
  });
  return {
    async time(path) {
      received = "";
      const answer = new Promise<void>((resolve) => {
        answered = resolve;
      });
      const start = performance.now();
      const url = `${path}${path.includes("?") ? "&" : "?"}n=${asked++}`;
      socket.write(`GET ${url} HTTP/1.1\r\nHost: roadbook.test\r\n\r\n`);
      await answer;
      const ms = performance.now() - start;
      if (!received.startsWith("HTTP/1.1 200 ")) throw new Error(`${path}: ${received}`);
      return ms;
    },
    anonymousMegabytes: () => anonymousMegabytesOf(pid),
    async close() {
      socket.end();
      await close();
    },
  };
}
