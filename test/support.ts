/** What the tests share: a Roadbook of a dataset in this process, and the compiled executable. */
import { existsSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import { join, resolve } from "node:path";
import { codeOf } from "../src/files/errors.ts";
import { createRoadbook, type RoadbookOptions } from "../src/roadbook.ts";
import type { LineSource } from "../src/snapshot/build/read-dataset.ts";
import { checkResponse } from "./openapi.ts";
import { openRunFolder, removeFolder } from "./run-folder.ts";

export const root = join(import.meta.dir, "..");
export const community = join(import.meta.dir, "fixtures/community.ndjson");

export interface Target {
  /**
   * Responds to a request to a path, as given, with the method and headers of `init`. Fails when the
   * response is not what the OpenAPI document says.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  origin: string;
  close(): Promise<void>;
}

/** Roadbook in this process, asked through `fetch` from one address. */
export async function openInProcess(
  options: Omit<RoadbookOptions, "dataset"> & { dataset?: LineSource },
): Promise<Target> {
  // Tests also try lines that TypeScript would refuse.
  const given = options as RoadbookOptions;
  const roadbook = await createRoadbook({ searchLimit: 0, ...given });
  const origin = "http://roadbook.test";
  return {
    async fetch(path, init) {
      const request = new Request(origin + path, init);
      return checkResponse(request, await roadbook.fetch(request, "192.0.2.1"));
    },
    origin,
    close: async () => roadbook.close(),
  };
}

/** In the inner loop (`bun run test:quick`) nothing starts a program. */
export const isQuick = Boolean(process.env.TEST_QUICK);

/** The run's folder, which `bun test` has by test/preload.ts; a script that uses this file has its own. */
const runFolder = process.env.TEST_RUN_FOLDER ?? openOwnFolder();

function openOwnFolder(): string {
  const folder = openRunFolder();
  process.on("exit", () => removeFolder(folder));
  return folder;
}

const MAKE_MS = 120_000;

/** A folder of that name, filled once a run for all its processes; nobody writes to it later. */
export async function makeOnce(
  name: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const [lock, folder] = [join(runFolder, `${name}.lock`), join(runFolder, name)];
  if (existsSync(folder)) return folder;
  try {
    mkdirSync(lock);
  } catch {
    // Another file of tests, or another process of the run, is at it.
    await until(() => existsSync(folder), MAKE_MS);
    return folder;
  }
  const filled = temporaryFolder();
  await fill(filled);
  renameSync(filled, folder);
  return folder;
}

/** The path of the executable: `ROADBOOK_BIN`, or one that is built once a run, alone in a folder. */
export async function executable(): Promise<string> {
  if (isQuick)
    throw new Error("a test that starts a program is to be in a file named *.exe.test.ts");
  if (process.env.ROADBOOK_BIN) return resolve(process.env.ROADBOOK_BIN);
  const made = await makeOnce("executable", async (folder) => {
    const command = [process.execPath, "scripts/build.ts", "--outfile", join(folder, "roadbook")];
    const { code, stderr } = await run(command, { cwd: root });
    if (code !== 0) throw new Error(stderr);
  });
  return join(made, "roadbook");
}

/**
 * A port of 127.0.0.1 that nobody has, for a program that must be told one. Below those that systems give to
 * who asks for any, as the tests beside this one do all the time: they would get it before the program does.
 */
export function findFreePort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop();
      return port;
    } catch (error) {
      if (codeOf(error) !== "EADDRINUSE") throw error;
    }
  }
}

const PATIENCE_MS = 30_000;

/** Waits until the condition holds; fails at the deadline. Returns what it held with. */
export async function until<T>(
  condition: () => T | Promise<T>,
  deadlineMs = PATIENCE_MS,
): Promise<NonNullable<T>> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const held = await condition();
    if (held) return held;
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${condition}`);
    await Bun.sleep(10);
  }
}

/** The distinct results of four clients that call `ask` again and again while `act` runs. */
export async function underLoad<T>(
  ask: () => Promise<T>,
  act: () => Promise<unknown>,
): Promise<Set<T>> {
  const seen = new Set<T>();
  let isOver = false;
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) seen.add(await ask());
  });
  try {
    await act();
  } finally {
    isOver = true;
    await Promise.all(clients);
  }
  return seen;
}

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
}

/** Runs a program to its end. */
export async function run(command: string[], options: RunOptions = {}): Promise<Outcome> {
  const { stdin = "", ...rest } = options;
  const child = Bun.spawn(command, {
    env: process.env,
    ...rest,
    stdin: typeof stdin === "string" ? Buffer.from(stdin) : stdin,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

/** What the executable sees of the environment. */
const bare = () => ({ TMPDIR: runFolder });

/** Runs the executable with a bare environment in an empty folder. */
export async function roadbook(words: string[], options: RunOptions = {}): Promise<Outcome> {
  return run([await executable(), ...words], { cwd: temporaryFolder(), env: bare(), ...options });
}

/** The executable serving on a free port, asked over HTTP; what it logs goes to `onLog`, if given. */
export async function openExecutable(
  words: string[],
  onLog?: (text: string) => void,
  env: Record<string, string> = {},
): Promise<Target & { pid: number }> {
  const child = Bun.spawn([await executable(), "serve", "--port", "0", ...words], {
    cwd: temporaryFolder(),
    env: { ...bare(), ...env },
    stdout: "pipe",
    stderr: onLog ? "pipe" : "ignore",
  });
  const logged = onLog && child.stderr ? tell(child.stderr, onLog) : undefined;
  const origin = await readyOrigin(child.stdout);
  return {
    async fetch(path, init) {
      const response = await fetch(origin + path, { redirect: "manual", ...init });
      return checkResponse({ url: origin + path, method: init?.method ?? "GET" }, response);
    },
    origin,
    pid: child.pid,
    async close() {
      child.kill("SIGTERM");
      if ((await child.exited) !== 0) throw new Error(`roadbook exited with ${child.exitCode}`);
      await logged;
    },
  };
}

async function tell(stream: ReadableStream<Uint8Array>, onText: (text: string) => void) {
  for await (const chunk of stream) onText(Buffer.from(chunk).toString());
}

/** The address in the ready line, which is the first line. */
export async function readyOrigin(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stdout) {
    text += Buffer.from(chunk).toString();
    const match = /^roadbook listening on (http\S+)\n/.exec(text);
    if (match?.[1]) return match[1];
  }
  throw new Error(`no ready line, only: ${text}`);
}

/** A new empty folder in that of the run, and gone with it. */
export function temporaryFolder(): string {
  return mkdtempSync(join(runFolder, "test-"));
}

/** A snapshot file of a dataset, made by the executable. */
export async function importByExecutable(dataset: string): Promise<string> {
  const snapshot = join(temporaryFolder(), "snapshot");
  const { code, stderr } = await roadbook(["import", dataset, "--to", snapshot]);
  if (code !== 0) throw new Error(stderr);
  return snapshot;
}
