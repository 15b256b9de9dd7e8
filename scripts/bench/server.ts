/**
 * The executable serving a community made for the measurement, and a client that adds little of its
 * own to a request: one connection, kept open.
 */
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCommunity } from "../../src/community/community.ts";
import type { Random } from "../../src/community/random.ts";
import { executable, openExecutable } from "../../test/support.ts";

const sizes: Record<string, number> = { "100k": 1e5, "1M": 1e6, "10M": 1e7 };

export function usersOf(size: string): number {
  const users = sizes[size];
  if (users === undefined) throw new Error(`--size is one of ${Object.keys(sizes).join(", ")}`);
  return users;
}

export interface Built {
  path: string;
  /** What the import took; undefined when the file was there from another run. */
  import: { seconds: number; peakMegabytes: number } | undefined;
  megabytes: number;
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

/** The snapshot of a community of that size, made by the executable when it is not there yet. */
export async function buildSnapshot(users: number): Promise<Built> {
  const path = join(tmpdir(), `roadbook-bench-seed-${users}.snapshot`);
  const dataset = `${path}.ndjson`;
  let measured: Built["import"];
  if (!existsSync(path)) {
    const program = await executable();
    const size = Object.entries(communityOf(users)).flatMap(([flag, n]) => [`--${flag}`, `${n}`]);
    await Bun.spawn([program, "seed", ...size, "--to", dataset]).exited;
    const start = performance.now();
    const child = Bun.spawn([program, "import", dataset, "--to", path], { stdout: "ignore" });
    if ((await child.exited) !== 0) throw new Error("the import failed");
    const peakMegabytes = (child.resourceUsage()?.maxRSS ?? 0) / 1e6;
    measured = { seconds: (performance.now() - start) / 1000, peakMegabytes };
    rmSync(dataset);
  }
  return { path, import: measured, megabytes: statSync(path).size / 1e6 };
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
  const { origin, pid, close } = await openExecutable(words);
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
