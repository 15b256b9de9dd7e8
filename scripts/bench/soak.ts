/**
 * Watches one server for hours under a modest mixed load, while its snapshot is replaced every five
 * seconds. Prints a line per minute, and at the end how fast each figure grew.
 */
import { copyFileSync, linkSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Random } from "../../src/domain/random.ts";
import { megabytesOf, temporaryFolder } from "../../test/support.ts";
import { connect } from "./connection.ts";
import { fitLine, format, type Options, quantile, tableOf, timed } from "./measure.ts";
import { buildSnapshot, openRoadbook, runCommand, samplePaths } from "./server.ts";

const SWAP_MS = 5000;
const PAUSE_MS = 10;
const REQUESTS_PER_CONNECTION = 100;
/** The first tenth of the time warms up the server, and is left out of the slopes. */
const WARM_UP = 0.1;
/** Because of the short window, the limit tracks only a few searches at a time. */
const FLAGS = "--search-limit 1000000 --search-window 10ms".split(" ");
const FIGURES = ["anonymous, MB", "file, MB", "descriptors", "deleted, MB", "p99, ms"];

export async function benchSoak({ users, hours }: Options): Promise<void> {
  const folder = temporaryFolder();
  const served = join(folder, "served");
  const changed = join(folder, "2");
  const changes = join(folder, "3");
  const original = await buildSnapshot(users);
  for (const copy of [changed, served]) copyFileSync(original, copy);
  writeFileSync(changes, `{"type":"user","id":1,"public":false}\n`);
  await runCommand("apply", changes, "--to", changed);
  const { origin, pid } = await openRoadbook(["--snapshot", served, ...FLAGS]);
  const start = performance.now();
  const elapsedHours = () => (performance.now() - start) / 3_600_000;
  const lineMs = Math.min(60_000, (hours * 3_600_000) / 10);
  const lines: [hour: number, figures: number[]][] = [];
  const total = { requests: 0, swaps: 0 };
  let next = changed;
  let identity = "";
  let times: number[] = [];

  async function swap(): Promise<void> {
    const { snapshot } = await (await fetch(`${origin}/health`)).json();
    // A swap counts once the server responds from the other file.
    if (identity !== "" && identity !== snapshot.sha256) total.swaps++;
    identity = snapshot.sha256;
    linkSync(next, `${served}.new`);
    renameSync(`${served}.new`, served);
    next = next === changed ? original : changed;
  }

  function report(): void {
    const figures = [...readFigures(pid), quantile(times, 0.99)];
    lines.push([elapsedHours(), figures]);
    total.requests += times.length;
    times = [];
    const shown = figures.map((figure, at) => `${FIGURES[at]}: ${format(figure)}`).join("; ");
    const counts = `${total.requests} requests, ${total.swaps} swaps`;
    console.log(`${new Date().toISOString()} ${counts}; ${shown}`);
  }

  const timers = [setInterval(swap, Math.min(SWAP_MS, lineMs)), setInterval(report, lineMs)];
  const random = new Random(1);
  const { profiles, achievements, twoLetters, fiveLetters } = samplePaths(original, users);
  const pages = profiles.map((path) => path.replace("/users/public/", "/drivers/"));
  while (elapsedHours() < hours) {
    const connection = await connect(origin);
    for (let count = 0; count < REQUESTS_PER_CONNECTION; count++) {
      const paths = random.pick([profiles, achievements, twoLetters, fiveLetters, pages]);
      times.push(await timed(() => connection.get(random.pick(paths))));
      await Bun.sleep(PAUSE_MS);
    }
    connection.close();
  }
  for (const timer of timers) clearInterval(timer);
  const warm = lines.filter(([hour]) => hour > hours * WARM_UP);
  const rows = FIGURES.map((name, at) => {
    const fit = fitLine(warm.map(([hour, figures]) => [hour, figures[at] ?? Number.NaN]));
    return [name, ...[fit.mean, fit.slope, fit.error].map(format)];
  });
  console.log(tableOf(["", "mean:", "growth per hour:", "± standard error:"], rows));
}

/** Returns a process's memory, its open files, and how much disk space the deleted ones hold. */
function readFigures(pid: number): number[] {
  const names = readdirSync(`/proc/${pid}/fd`);
  const find = (name: string) => statSync(`/proc/${pid}/fd/${name}`, { throwIfNoEntry: false });
  const deleted = names.flatMap((name) => find(name) ?? []).filter(({ nlink }) => nlink === 0);
  const held = deleted.reduce((sum, { blocks }) => sum + (blocks * 512) / 1e6, 0);
  return [megabytesOf(pid, "RssAnon"), megabytesOf(pid, "RssFile"), names.length, held];
}
