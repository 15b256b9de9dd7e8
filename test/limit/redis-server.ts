/**
 * Runs a real redis-server for tests and benchmarks, without persistence, on a free loopback port
 * and in its own folder. Stops only the process that it started.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort, until } from "../support.ts";

export interface RedisServer {
  url: string;
  /** `freeze` suspends the server but keeps its connections open. `thaw` resumes the server. */
  freeze(): void;
  thaw(): void;
  /**
   * Kills the server. `start` restarts the server on the same port, without its data unless the
   * flags enable persistence.
   */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Sends one command, like redis-cli. */
  send(command: string, ...args: string[]): Promise<unknown>;
  close(): Promise<void>;
}

export function hasRedisServer(): boolean {
  return Bun.which("redis-server") !== null;
}

/**
 * @param password the password of the default user, if one is required
 * @param settings redis-server flags that override the flags set here
 */
export async function openRedisServer(
  password?: string,
  settings: readonly string[] = [],
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), "roadbook-redis-"));
  const port = findFreePort();
  const url = `redis://${password ? `:${password}@` : ""}127.0.0.1:${port}`;
  let server: Bun.Subprocess | undefined;

  async function send(command: string, ...args: string[]): Promise<unknown> {
    const client = new Bun.RedisClient(url, { autoReconnect: false, enableOfflineQueue: false });
    try {
      await client.connect();
      return await client.send(command, args);
    } finally {
      client.close();
    }
  }

  async function start(): Promise<void> {
    const flags = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    if (password) flags.push("--requirepass", password);
    flags.push(...settings);
    server = Bun.spawn(["redis-server", ...flags], {
      cwd: folder,
      stdout: "ignore",
      stderr: "ignore",
    });
    await until(() => send("PING").catch(() => false));
  }

  async function kill(): Promise<void> {
    server?.kill("SIGKILL");
    await server?.exited;
  }

  await start();
  return {
    url,
    freeze: () => server?.kill("SIGSTOP"),
    thaw: () => server?.kill("SIGCONT"),
    kill,
    start,
    send,
    async close() {
      await kill();
      await rm(folder, { recursive: true });
    },
  };
}
