/**
 * Runs a real redis-server for tests and benchmarks, without persistence, on a free loopback port
 * and in its own folder. Stops only the process that it started.
 */
import { findFreePort, temporaryFolder, until } from "../support.ts";

export type RedisServer = Awaited<ReturnType<typeof openRedisServer>>;

export function hasRedisServer(): boolean {
  return Bun.which("redis-server") !== null;
}

/**
 * @param password the password of the default user, if one is required
 * @param settings redis-server flags that override the flags set here
 */
export async function openRedisServer(password?: string, settings: readonly string[] = []) {
  const port = findFreePort();
  const url = `redis://${password ? `:${password}@` : ""}127.0.0.1:${port}`;
  const flags = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  if (password) flags.push("--requirepass", password);
  flags.push(...settings);
  const cwd = temporaryFolder();
  let server: Bun.Subprocess | undefined;

  /** Sends one command, like redis-cli. */
  async function send(command: string, ...args: string[]): Promise<unknown> {
    const client = new Bun.RedisClient(url, { autoReconnect: false, enableOfflineQueue: false });
    try {
      await client.connect();
      return await client.send(command, args);
    } finally {
      client.close();
    }
  }

  /** Starts on the same port again, without data unless the flags enable persistence. */
  async function start(): Promise<void> {
    server = Bun.spawn(["redis-server", ...flags], { cwd, stdout: "ignore", stderr: "ignore" });
    await until(() => send("PING").catch(() => false));
  }

  async function kill(): Promise<void> {
    server?.kill("SIGKILL");
    await server?.exited;
  }

  await start();
  return {
    url,
    /** Suspends the server but keeps its connections open. */
    freeze: () => server?.kill("SIGSTOP"),
    thaw: () => server?.kill("SIGCONT"),
    start,
    send,
    kill,
  };
}
