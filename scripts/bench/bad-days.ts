/**
 * Counts wrong responses under bad conditions: killed writers, flipped bits, snapshots swapped
 * under load, and sources that never stop sending.
 */
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../src/community/random.ts";
import { makeSeeded, makeSnapshot } from "../../test/datasets.ts";
import { killWriters, swapUnderLoad } from "../../test/snapshot/bad-days.ts";
import { openExecutable, temporaryFolder, until } from "../../test/support.ts";
import { format, type Options } from "./measure.ts";

/** The snapshot sizes that a flooding source announces. The disk must have room for each size. */
const PROMISED_BYTES = [1e7, 2e9];

export async function benchBadDays({ seed, isQuick }: Options): Promise<void> {
  const { kills, flips, swaps, floodSeconds } = isQuick
    ? { kills: 5, flips: 50, swaps: 10, floodSeconds: 1 }
    : { kills: 500, flips: 2000, swaps: 1000, floodSeconds: 20 };
  process.stdout.write("| condition | count | outcome | wrong |\n| --- | --: | --- | --: |\n");
  const { unfinished, wrong, leftovers } = await killWriters(kills, seed);
  printRow("kill -9 of import and apply", kills, `${unfinished} killed before the replacement`, [
    ...wrong,
    ...leftovers,
  ]);
  const { snapshot } = await makeSeeded(300, seed);
  const unnoticed = await flipBits(snapshot, flips, seed);
  printRow("bit flips in a replacement", flips, "rejected", unnoticed);
  const found = await swapUnderLoad(swaps);
  printRow("swaps under load", swaps, `${found.alpha + found.omega} responses`, found.wrong);
  for (const promisedBytes of PROMISED_BYTES) {
    const found = await floodDisk(promisedBytes, floodSeconds * 1000);
    const [promised, max] = [promisedBytes, found.mostBytes].map((bytes) => format(bytes / 1e6));
    const [longest, before] = [found.longestMs, found.longestBeforeMs].map(format);
    const responses = `longest response ${longest} ms (${before} ms before)`;
    const outcome = `at most ${max} MB on disk, ${responses}`;
    printRow(`an endless body, header says ${promised} MB`, found.downloads, outcome, found.wrong);
  }
}

function printRow(condition: string, count: number, outcome: string, wrong: unknown[]): void {
  process.stdout.write(`| ${condition} | ${count} | ${outcome} | ${wrong.length} |\n`);
  for (const problem of wrong.slice(0, 5)) process.stderr.write(`${problem}\n`);
}

/**
 * Replaces a served snapshot `count` times, each time with a copy in which one bit is flipped. A
 * third of the flips are in the header, a third in the trailer, and a third between them. Returns
 * the byte offsets of the flips that the server did not notice.
 */
async function flipBits(snapshot: string, count: number, seed: number): Promise<number[]> {
  const random = createRandom(seed);
  const target = join(temporaryFolder(), "snapshot");
  copyFileSync(snapshot, target);
  let log = "";
  const server = await openExecutable(["--snapshot", target], (text) => {
    log += text;
  });
  const bytes = readFileSync(snapshot);
  const unnoticed: number[] = [];
  const regions = [
    [0, 100],
    [100, bytes.length - 81],
    [bytes.length - 81, bytes.length],
  ] as const;
  const refused = () => log.split("; serving the old snapshot").length - 1;
  const swapped = () => log.split("serving a new snapshot").length - 1;
  for (let flips = 1; flips <= count; flips++) {
    const [from, to] = regions[flips % 3] ?? regions[1];
    const at = from + Math.floor(random.next() * (to - from));
    const before = swapped();
    flip(bytes, at, flips);
    writeFileSync(`${target}.copy`, bytes);
    flip(bytes, at, flips);
    renameSync(`${target}.copy`, target);
    process.kill(server.pid, "SIGHUP");
    await until(() => refused() + swapped() >= flips);
    if (swapped() > before) unnoticed.push(at);
  }
  await server.close();
  return unnoticed;
}

function flip(bytes: Buffer, at: number, bit: number): void {
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit % 8));
}

interface Flood {
  downloads: number;
  /** The peak disk use of the downloads in bytes, excluding the snapshot that is being served. */
  mostBytes: number;
  longestMs: number;
  /** The same in an equally long period before the flood. */
  longestBeforeMs: number;
  /** Responses other than 200, and the peak disk use if it is over 1 MB above the declared size. */
  wrong: string[];
}

/**
 * For `durationMs`, makes a server download endless bodies whose header declares a size of
 * `declaredBytes`. During that time, and for equally long before it, keeps requesting a profile.
 */
async function floodDisk(declaredBytes: number, durationMs: number): Promise<Flood> {
  const good = readFileSync(await makeSnapshot());
  const head = Buffer.from(good);
  head.writeUInt32BE(Math.floor(declaredBytes / head.readUInt16BE(16)), 28);
  const next = Buffer.alloc(2 ** 18);
  let isFlooding = false;
  let downloads = 0;
  const source = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      if (!isFlooding) return new Response(new Uint8Array(good));
      downloads++;
      let isFirst = true;
      const pull = async (controller: ReadableStreamDefaultController) => {
        controller.enqueue(isFirst ? head : next);
        isFirst = false;
        await Bun.sleep(0);
      };
      return new Response(new ReadableStream({ pull }));
    },
  });
  const cache = temporaryFolder();
  const server = await openExecutable([
    ...["--snapshot", `${source.url.origin}/x.snapshot`, "--cache-dir", cache],
    ...["--refresh", "20ms", "--log-level", "silent"],
  ]);
  const servedBytes = bytesIn(cache);
  const result: Flood = {
    downloads: 0,
    mostBytes: 0,
    longestMs: 0,
    longestBeforeMs: 0,
    wrong: [],
  };
  const request = async () => {
    const start = performance.now();
    const { status } = await server.fetch("/users/public/42");
    if (status !== 200) result.wrong.push(`status ${status}`);
    return performance.now() - start;
  };
  const start = performance.now();
  while (performance.now() < start + durationMs) {
    result.longestBeforeMs = Math.max(result.longestBeforeMs, await request());
    await Bun.sleep(1);
  }
  isFlooding = true;
  while (performance.now() < start + 2 * durationMs) {
    result.longestMs = Math.max(result.longestMs, await request());
    result.mostBytes = Math.max(result.mostBytes, bytesIn(cache) - servedBytes);
    await Bun.sleep(1);
  }
  result.downloads = downloads;
  if (result.mostBytes > declaredBytes + 1e6) result.wrong.push(`${result.mostBytes} bytes`);
  await server.close();
  await source.stop(true);
  return result;
}

/**
 * Returns the total size of all files in a folder. Files that appear or disappear during the call
 * might be missed.
 */
function bytesIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const sizes = names.map((name) => statSync(join(folder, name), { throwIfNoEntry: false }));
  return sizes.reduce((sum, found) => sum + (found?.isFile() ? found.size : 0), 0);
}
