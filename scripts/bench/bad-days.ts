/**
 * Counts wrong responses under bad conditions: killed writers, flipped bits, snapshots swapped
 * under load, and sources that never stop sending. The tests run the same code with fewer
 * repetitions.
 */
import { makeSeeded } from "../../test/datasets.ts";
import { flipBits, floodDisk, killWriters, swapUnderLoad } from "../../test/snapshot/bad-days.ts";
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
