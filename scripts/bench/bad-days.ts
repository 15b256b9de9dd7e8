/**
 * Owns the count of wrong responses on bad days: writers killed, bits flipped, snapshots swapped under
 * load and sources that send without end, as the tests do it, in numbers that no test has the time
 * for. Always the same by seed.
 */
import { parseArgs } from "node:util";
import { makeSeeded } from "../../test/datasets.ts";
import {
  flipBits,
  floodDisk,
  floods,
  killWriters,
  swapUnderLoad,
} from "../../test/snapshot/bad-days.ts";
import { format } from "./measure.ts";

/** A header may promise so much, and the disk must have it. */
const PROMISED_BYTES = [1e7, 2e9];

/** `bun run bench bad-days [--kills 500] [--flips 2000] [--swaps 1000] [--floods 20] [--seed 1]` */
export async function benchBadDays(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      kills: { type: "string", default: "500" },
      flips: { type: "string", default: "2000" },
      swaps: { type: "string", default: "1000" },
      // Seconds of each.
      floods: { type: "string", default: "20" },
      seed: { type: "string", default: "1" },
    },
  });
  const seed = Number(values.seed);
  process.stdout.write(
    "\n| bad day | count | what came of it | wrong |\n| --- | --: | --- | --: |\n",
  );
  const { unfinished, wrong, leftovers } = await killWriters(Number(values.kills), seed);
  printRow("kill -9 of import and apply", values.kills, `${unfinished} before the end`, [
    ...wrong,
    ...leftovers,
  ]);
  const { snapshot } = await makeSeeded(300, seed);
  const unnoticed = await flipBits(snapshot, Number(values.flips), seed);
  printRow("bit flips in a replacement", values.flips, "refused", unnoticed);
  const swaps = await swapUnderLoad(Number(values.swaps));
  const responses = `${swaps.alpha + swaps.omega} responses`;
  printRow("swaps under load", values.swaps, responses, swaps.wrong);
  for (const flood of floods) {
    for (const promisedBytes of PROMISED_BYTES) {
      const found = await floodDisk(flood, promisedBytes, Number(values.floods) * 1000);
      const [promised, most] = [promisedBytes, found.mostBytes].map((bytes) => format(bytes / 1e6));
      const [longest, before] = [found.longestMs, found.longestBeforeMs].map(format);
      const responses = `longest response ${longest} ms (${before} ms before)`;
      const outcome = `at most ${most} MB on the disk, ${responses}`;
      printRow(`${flood} that promises ${promised} MB`, `${found.downloads}`, outcome, found.wrong);
    }
  }
}

function printRow(day: string, count: string, outcome: string, wrong: unknown[]): void {
  process.stdout.write(`| ${day} | ${count} | ${outcome} | ${wrong.length} |\n`);
  for (const one of wrong.slice(0, 5)) process.stderr.write(`${one}\n`);
}
