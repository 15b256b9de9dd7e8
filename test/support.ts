/** Test helpers: a Roadbook in this process, the compiled executable, and temporary folders. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync } from "node:fs";
import { join, resolve } from "node:path";
import { codeOf } from "../src/files/errors.ts";
import type { LineSource } from "../src/import/line-reader.ts";
import type { RoadbookOptions } from "../src/settings/library-options.ts";
import { openRunFolder, removeFolder, TIMEOUT_MS } from "./run-folder.ts";

export const root = join(import.meta.dir, "..");
/** A dataset with all kinds of lines. `community` in datasets.ts is a smaller one. */
export const fixture = join(import.meta.dir, "fixtures/community.ndjson");

export interface Target {
  /** Requests a path. Fails if the response does not match the OpenAPI document. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  origin: string;
  close(): Promise<void>;
}

/** Opens a Roadbook in this process. All requests come from the same client address. */
export async function openInProcess(
  options: Omit<RoadbookOptions, "dataset"> & { dataset?: LineSource },
): Promise<Target> {
  // Some tests use lines that TypeScript would reject.
  const given = options as RoadbookOptions;
  // Many test files need neither module, and loading them takes about half a second.
  const { createRoadbook } = await import("../src/roadbook.ts");
  const { checkResponse } = await import("./openapi.ts");
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

/** Whether the test run must fail if a program is missing, and test the package. */
export const isRequired = Boolean(process.env.ROADBOOK_REQUIRE_ALL);

/** Whether to run the tests of a program. Says so if they are skipped. */
export function tryProgram(name: string): boolean {
  const isTried = Bun.which(name) !== null || isRequired;
  if (!isTried) console.warn(`skipped: some tests need ${name} on the PATH`);
  return isTried;
}

/** Whether to skip tests that start programs, as `bun run test:quick` does. */
export const isQuick = Boolean(process.env.TEST_QUICK);

/** The test run's folder, set by test/preload.ts. Scripts that import this file open their own. */
const runFolder = process.env.TEST_RUN_FOLDER ?? openOwnFolder();

function openOwnFolder(): string {
  const folder = openRunFolder();
  process.on("exit", () => removeFolder(folder));
  return folder;
}

/**
 * Returns a folder that is filled once per test run and shared by all processes of the run. Callers
 * must not change it.
 */
export async function makeOnce(name: string, fill: (folder: string) => Promise<void>) {
  const lock = join(runFolder, `${name}.lock`);
  const folder = join(runFolder, name);
  if (existsSync(folder)) return folder;
  try {
    mkdirSync(lock);
  } catch {
    // Another test file or another process of the run is filling the folder.
    await until(() => existsSync(folder), TIMEOUT_MS);
    return folder;
  }
  const filled = temporaryFolder();
  await fill(filled);
  renameSync(filled, folder);
  return folder;
}

/**
 * Returns the executable's path: `ROADBOOK_BIN`, or a build made once per run in its own folder.
 */
export async function executable(): Promise<string> {
  if (isQuick)
    throw new Error("a test that starts a program must be in a file named *.exe.test.ts");
  if (process.env.ROADBOOK_BIN) return resolve(process.env.ROADBOOK_BIN);
  const made = await makeOnce("executable", async (folder) => {
    const command = [process.execPath, "scripts/build.ts", "--outfile", join(folder, "roadbook")];
    const { code, stderr } = await run(command, { cwd: root });
    if (code !== 0) throw new Error(stderr);
  });
  return join(made, "roadbook");
}

/**
 * Finds a free port on 127.0.0.1 for a program that cannot pick its own. The port is below the
 * range from which systems pick ports, so that no other test gets it before the program does.
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

const PATIENCE_MS = 120_000;

/** Waits for a truthy value from `condition` and returns that value. Throws at the deadline. */
export async function until<T>(
  condition: () => T | Promise<T>,
  deadlineMs = PATIENCE_MS,
): Promise<NonNullable<T>> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${condition}`);
    await Bun.sleep(10);
  }
}

/** Returns the distinct results of four clients that call `ask` repeatedly while `act` runs. */
export async function underLoad<T>(ask: () => Promise<T>, act: () => Promise<unknown>) {
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

interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
}

/** Runs a program until it exits. */
export async function run(command: string[], options: RunOptions = {}) {
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

/** The minimal environment for the executable. */
const bareEnvironment = () => ({ TMPDIR: runFolder });

/** Runs the executable with a minimal environment in an empty folder. */
export async function roadbook(args: string[], options: RunOptions = {}) {
  return run([await executable(), ...args], {
    cwd: temporaryFolder(),
    env: bareEnvironment(),
    ...options,
  });
}

/** Starts the executable on a free port. `onLog` is called with its log output. */
export async function openExecutable(
  args: string[],
  onLog?: (text: string) => void,
  env: Record<string, string> = {},
): Promise<Target & { pid: number }> {
  const child = Bun.spawn([await executable(), "serve", "--port", "0", ...args], {
    cwd: temporaryFolder(),
    env: { ...bareEnvironment(), ...env },
    stdout: "pipe",
    stderr: onLog ? "pipe" : "ignore",
  });
  const onChunk = (chunk: Uint8Array) => onLog?.(Buffer.from(chunk).toString());
  const logged = child.stderr?.pipeTo(new WritableStream({ write: onChunk }));
  const origin = await readyOrigin(child.stdout);
  const { checkResponse } = await import("./openapi.ts");
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

/** Starts the executable, and collects its log. */
export async function openLogged(args: string[], env: Record<string, string> = {}) {
  const parts: string[] = [];
  const target = await openExecutable(args, (text) => parts.push(text), env);
  return { ...target, log: () => parts.join("") };
}

/** Starts a program that prints the same ready line as `serve`. `close` returns its exit code. */
export async function spawnServer(
  command: string[],
  options: { cwd?: string; env?: Record<string, string | undefined> } = {},
) {
  const child = Bun.spawn(command, { ...options, stdout: "pipe", stderr: "ignore" });
  const close = () => {
    child.kill();
    return child.exited;
  };
  return { origin: await readyOrigin(child.stdout), pid: child.pid, close };
}

/** Returns the address in the ready line, which must be the first line. */
export async function readyOrigin(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stdout) {
    text += Buffer.from(chunk).toString();
    const match = /^roadbook listening on (http\S+)\n/.exec(text);
    if (match?.[1]) return match[1];
  }
  throw new Error(`no ready line, only: ${text}`);
}

/**
 * Returns the peak memory of a process (VmHWM) or its current memory (VmRSS): mapped files (RssFile)
 * and the rest (RssAnon). Returns NaN if the process has just exited, and 0 without /proc.
 */
export function megabytesOf(pid: number, key: "VmHWM" | "VmRSS" | "RssAnon" | "RssFile"): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return 0;
  return Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(readFileSync(path, "utf8"))?.[1]) / 1000;
}

/** Makes a self-signed certificate for a host such as IP:127.0.0.1 or DNS:localhost. */
export async function makeCertificate(host: string, kind = "rsa:2048") {
  const folder = temporaryFolder();
  const cert = join(folder, "cert.pem");
  const key = join(folder, "key.pem");
  const words = `req -x509 -newkey ${kind} -nodes -days 1 -subj /CN=test -addext subjectAltName=`;
  const command = ["openssl", ...`${words}${host}`.split(" "), "-out", cert, "-keyout", key];
  const { code, stderr } = await run(command);
  if (code !== 0) throw new Error(stderr);
  return { cert, key };
}

/** Runs a search to its end without pauses. */
export function finish<Results>(steps: Generator<void, Results>): Results {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Returns the code blocks of a language in a Markdown text. */
export function codeBlocks(text: string, language: string): string[] {
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"));
  return Array.from(blocks, ([, block = ""]) => block.trim());
}

/** Creates an empty folder that is removed at the end of the test run. */
export function temporaryFolder(): string {
  return mkdtempSync(join(runFolder, "test-"));
}
