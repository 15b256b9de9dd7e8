/** Measures how long another client waits while one customer sends as much as it can. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { makeCertificate, megabytesOf, openExecutable, type Target } from "../../test/support.ts";
import { ATTACKER, attacks, open, PROFILE } from "./attacker.ts";
import { alternate, format, median, type Options, quantile, tableOf } from "./measure.ts";
import { buildSnapshot } from "./server.ts";

const ATTACK_MS = 1500;
/** In this time, the attacker's process starts. The start of the attack is measured, too. */
const WARM_UP_MS = 200;
const RUNS = 5;
/** A page always waits for a turn, and a profile only if a tick is long. */
const PAGE = "/drivers/46";

/** What another client waited for, in milliseconds, and the server's peak memory. */
class Waits {
  readonly profile: number[] = [];
  readonly page: number[] = [];
  /** The server's own part of a profile's time shows what other load on the machine adds. */
  readonly server: number[] = [];
  readonly connecting: number[] = [];
  megabytes = 0;
}

const columns: [title: string, figure: (waits: Waits) => number][] = [
  ["profile, p50:", ({ profile }) => quantile(profile, 0.5)],
  ["p99:", ({ profile }) => quantile(profile, 0.99)],
  ["max:", ({ profile }) => quantile(profile, 1)],
  ["max of the server's processor time:", ({ server }) => quantile(server, 1)],
  ["max with a new connection:", ({ connecting }) => quantile(connecting, 1)],
  ["page, p50:", ({ page }) => quantile(page, 0.5)],
  ["max:", ({ page }) => quantile(page, 1)],
  ["server's peak, MB:", ({ megabytes }) => megabytes],
];

export async function benchHostile({ users, isQuick }: Options): Promise<void> {
  const snapshot = await buildSnapshot(users);
  const flags = ["--search-limit", "0", "--allow-indexing", "--trusted-proxy", ATTACKER];
  flags.push("--snapshot", snapshot);
  // The handshakes of this kind of key cost the least.
  const { cert, key } = await makeCertificate(
    "DNS:a.example",
    "ec -pkeyopt ec_paramgen_curve:P-256",
  );
  const tls = ["--tls-cert", cert, "--tls-key", key];
  const names = Object.fromEntries(Object.keys(attacks).map((name) => [name, name]));
  const waitsOf = await alternate(isQuick ? 1 : RUNS, names, async (name) => {
    const server = await openExecutable([...flags, ...(name.includes("TLS") ? tls : [])]);
    const waits = await measureOther(server, name);
    await server.close();
    return waits;
  });

  const rows = Object.keys(attacks).map((name) => [
    name,
    ...columns.map(([, figure]) => format(median(waitsOf(name).map(figure)))),
  ]);
  const head = columns.map(([title]) => title);
  console.log(tableOf(["attack; wait of another client, ms", ...head], rows));
}

/** Measures how long a client waits on an open connection, and on a new one. */
async function measureOther(server: Target & { pid: number }, attack: string): Promise<Waits> {
  const { origin, pid } = server;
  const waits = new Waits();
  const profiles = open(origin, "127.0.0.1").on("error", () => {});
  const pages = open(origin, "127.0.0.1").on("error", () => {});
  await Promise.all([ask(profiles, PROFILE), ask(pages, PAGE)]);

  // The attacker has a process of its own, so that it does not delay this client.
  const attacker = Bun.spawn(
    [process.execPath, join(import.meta.dir, "attacker.ts"), origin, attack],
    { stdout: "ignore" },
  );
  await Bun.sleep(WARM_UP_MS);
  const endMs = performance.now() + ATTACK_MS;
  while (performance.now() < endMs) {
    const beforeMs = processorMsOf(pid);
    waits.profile.push(await ask(profiles, PROFILE));
    waits.server.push(processorMsOf(pid) - beforeMs);
    waits.page.push(await ask(pages, PAGE));
    const other = open(origin, "127.0.0.1").on("error", () => {});
    waits.connecting.push(await ask(other, PROFILE));
    other.destroy();
    await Bun.sleep(5);
  }
  waits.megabytes = megabytesOf(pid, "VmHWM");

  attacker.kill();
  await attacker.exited;
  profiles.destroy();
  pages.destroy();
  return waits;
}

/** Returns the milliseconds until the response begins. */
async function ask(socket: Socket, path: string): Promise<number> {
  const sentMs = performance.now();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`);
  await once(socket, "data");
  return performance.now() - sentMs;
}

/** The time that the server's main thread has run. */
function processorMsOf(pid: number): number {
  return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8"), 10) / 1e6;
}
