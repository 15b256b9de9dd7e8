/** Measures how long another client waits while one address sends as much as it can. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { makeSeeded } from "../../test/datasets.ts";
import { makeCertificate, openExecutable, type Target } from "../../test/support.ts";
import { attacks, open, PROFILE } from "./attacker.ts";
import { alternate, format, median, type Options, quantile, tableOf } from "./measure.ts";

const ATTACK_MS = 1500;
/** How long an attack runs before the other client begins. Its start is measured, too. */
const WARM_UP_MS = 200;
const RUNS = 5;

/** The server's own part shows what other load on the machine adds. */
const columns: [title: string, "connected" | "server" | "connecting", share: number][] = [
  ["p50:", "connected", 0.5],
  ["p99:", "connected", 0.99],
  ["max:", "connected", 1],
  ["max of the server's processor time:", "server", 1],
  ["max with a new connection:", "connecting", 1],
];

export async function benchHostile({ isQuick }: Options): Promise<void> {
  const { snapshot } = await makeSeeded(isQuick ? 1000 : 200_000);
  const flags = ["--search-limit", "0", "--allow-indexing", "--snapshot", snapshot];
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
    ...columns.map(([, kind, share]) =>
      format(median(waitsOf(name).map((waits) => quantile(waits[kind], share)))),
    ),
  ]);
  const head = columns.map(([title]) => title);
  console.log(tableOf(["attack; wait of another client, ms", ...head], rows));
}

/** Returns how long a client waits on an open connection, and on a new one, in milliseconds. */
async function measureOther({ origin, pid }: Target & { pid: number }, attack: string) {
  const stat = `/proc/${pid}/task/${pid}/schedstat`;
  const serverMs = () => Number.parseInt(readFileSync(stat, "utf8"), 10) / 1e6;
  const request = `GET ${PROFILE} HTTP/1.1\r\nHost: a.example\r\n\r\n`;
  const ask = async (socket: Socket) => {
    const sentMs = performance.now();
    socket.write(request);
    await once(socket, "data");
    return performance.now() - sentMs;
  };
  const socket = open(origin, "127.0.0.1").on("error", () => {});
  await ask(socket);
  // The attacker has a process of its own, so that it does not delay this client.
  const attacker = Bun.spawn(
    [process.execPath, join(import.meta.dir, "attacker.ts"), origin, attack],
    { stdout: "ignore" },
  );
  await Bun.sleep(WARM_UP_MS);
  const waits = { connected: [] as number[], server: [] as number[], connecting: [] as number[] };
  const endMs = performance.now() + ATTACK_MS;
  while (performance.now() < endMs) {
    const beforeMs = serverMs();
    waits.connected.push(await ask(socket));
    waits.server.push(serverMs() - beforeMs);
    const other = open(origin, "127.0.0.1").on("error", () => {});
    waits.connecting.push(await ask(other));
    other.destroy();
    await Bun.sleep(5);
  }
  attacker.kill();
  await attacker.exited;
  socket.destroy();
  return waits;
}
