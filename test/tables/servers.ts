/** Starts private database servers, which listen on a free port of 127.0.0.1. */
import { join } from "node:path";
import { SQL } from "bun";
import { findFreePort, run, temporaryFolder, until } from "../support.ts";

export interface DatabaseServer {
  /** The URL of an empty database, as a user who may do everything. */
  url: string;
  /** Runs statements. */
  run(statements: string): Promise<unknown>;
  close(): Promise<void>;
}

const PATH = `${process.env.PATH}:/usr/sbin`;
const [postgresFolder] = [
  ...new Bun.Glob("*/bin/initdb").scanSync({
    cwd: "/usr/lib/postgresql",
    throwErrorOnBrokenSymlink: false,
  }),
]
  .map((path) => join("/usr/lib/postgresql", path, ".."))
  .sort()
  .reverse();
const isRoot = process.getuid?.() === 0;

export const hasPostgres = postgresFolder !== undefined;
export const hasMariadb = Bun.which("mariadbd", { PATH }) !== null;

/** Starts PostgreSQL, whose clock is in Tokyo. Passwords are required over TCP. */
export async function startPostgres(): Promise<DatabaseServer> {
  const folder = temporaryFolder();
  // PostgreSQL refuses to run as root, but its own user might not have access to root's folder.
  const reach = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  const user = isRoot
    ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", ...reach]
    : [];
  const program = (name: string) => [...user, join(postgresFolder ?? "", name)];
  const place = ["-D", join(folder, "data")];
  await succeed([...program("initdb"), ...place, ..."-U platform -A trust -E UTF8 -N".split(" ")]);
  const auth = "local all all trust\nhost all platform all trust\nhost all all all scram-sha-256\n";
  await Bun.write(join(folder, "data/pg_hba.conf"), auth);
  const port = findFreePort();
  const options = ["-k", folder, "-h", "127.0.0.1", "-p", `${port}`, "-F", "-c", "timezone=Japan"];
  const url = `postgres://platform@127.0.0.1:${port}/postgres`;
  return start(url, [...program("postgres"), ...place, ...options], "SIGINT");
}

/** Starts MariaDB, whose clock is in Tokyo. */
export async function startMariadb(): Promise<DatabaseServer> {
  const folder = temporaryFolder();
  const place = [
    "--no-defaults",
    `--datadir=${join(folder, "data")}`,
    `--tmpdir=${folder}`,
    ...(isRoot ? ["--user=root"] : []),
    "--innodb-flush-method=nosync",
  ];
  const auth = "--auth-root-authentication-method=normal";
  await succeed(["mariadb-install-db", ...place, "--skip-test-db", auth]);
  const port = findFreePort();
  const options = [
    "--bind-address=127.0.0.1",
    `--port=${port}`,
    `--socket=${join(folder, "socket")}`,
    "--default-time-zone=+09:00",
    "--local-infile=1",
  ];
  const program = Bun.which("mariadbd", { PATH }) ?? "mariadbd";
  const url = `mysql://root@127.0.0.1:${port}/mysql`;
  const server = await start(url, [program, ...place, ...options], "SIGTERM");
  await server.run("CREATE DATABASE platform CHARACTER SET utf8mb4");
  const platform = url.replace(/mysql$/, "platform");
  return { ...server, url: platform, run: (statements) => runOn(platform, statements) };
}

async function start(
  url: string,
  command: string[],
  signal: NodeJS.Signals,
): Promise<DatabaseServer> {
  const env = { PATH, LC_ALL: "C.UTF-8" };
  const server = Bun.spawn(command, { cwd: "/", env, stdout: "ignore", stderr: "ignore" });
  await until(() => runOn(url, "SELECT 1").catch(() => undefined));
  return {
    url,
    run: (statements) => runOn(url, statements),
    async close() {
      server.kill(signal);
      await server.exited;
    },
  };
}

async function runOn(url: string, statements: string): Promise<unknown> {
  const { pathname } = new URL(url);
  await using sql = new SQL({ url, max: 1, database: pathname.slice(1) });
  return await sql.unsafe(statements).simple();
}

async function succeed(command: string[]): Promise<void> {
  const { code, stderr } = await run(command, { env: { PATH, LC_ALL: "C.UTF-8" }, cwd: "/" });
  if (code !== 0) throw new Error(stderr);
}
