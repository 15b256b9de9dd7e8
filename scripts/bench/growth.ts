/**
 * Measures how times, memory and file sizes grow with the number of users, using the executable and
 * generated communities. Prints a table and redraws the plot in RESULTS.md.
 */
import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../src/community/random.ts";
import { openExecutable, root, temporaryFolder } from "../../test/support.ts";
import { type Connection, connect } from "./connection.ts";
import { median, megabytesOf, type Options, quantile, tableOf, timed } from "./measure.ts";
import {
  createUserSampler,
  openRoadbook,
  runCommand,
  searchPath,
  timeUntilSwapped,
  sizes as usersOf,
  writeDataset,
} from "./server.ts";

const REQUESTS = 2000;
const ROUNDS = 5;

const metrics = {
  "profile, p50": "s",
  "profile, p99": "s",
  "search, p50": "s",
  "search, p99": "s",
  "start to ready": "s",
  swap: "s",
  apply: "s",
  import: "s",
  "apply, processor time": "s",
  "import, processor time": "s",
  "server's memory": "MB",
  "snapshot file": "MB",
  "import, peak": "MB",
  "apply, peak": "MB",
} as const;
type Metric = keyof typeof metrics;
type Figures = Record<Metric, number>;

export async function benchGrowth({ isQuick }: Options): Promise<void> {
  const sizes = isQuick ? ["10k", "100k"] : ["10k", "100k", "1M", "10M"];
  const figures = await measureSizes(sizes);
  console.log(formatTable(sizes, figures));
  if (!isQuick) await Bun.write(join(root, ".github/images/growth.svg"), drawPlot(sizes, figures));
}

async function measureSizes(sizes: string[]): Promise<Figures[]> {
  const log = (text: string) => console.error(`${new Date().toISOString()} ${text}`);
  const communities: Community[] = [];
  for (const size of sizes) {
    log(`building ${size}`);
    communities.push(await build(size));
  }
  const measured: Figures[] = [];
  for (const { community, times } of await timeRequests(communities)) {
    const { size, path, changedPath, figures } = community;
    log(`measuring ${size}`);
    measured.push({
      ...figures,
      ...times,
      "start to ready": await timeStart(path),
      swap: await timeSwap(path, changedPath),
    });
  }
  return measured;
}

type Community = Awaited<ReturnType<typeof build>>;

/** Builds a snapshot, and a changed copy in which one user has become private. */
async function build(size: string) {
  const folder = temporaryFolder();
  const [dataset, changes] = [join(folder, "dataset"), join(folder, "changes")];
  const [path, changedPath] = [join(folder, "snapshot"), join(folder, "changed")];
  await writeDataset(usersOf[size] ?? 0, dataset);
  const imported = await runCommand("import", dataset, "--to", path);
  rmSync(dataset);
  copyFileSync(path, changedPath);
  writeFileSync(changes, `{"type":"user","id":1,"public":false}\n`);
  const applied = await runCommand("apply", changes, "--to", changedPath);
  const figures = {
    apply: applied.seconds,
    import: imported.seconds,
    "apply, processor time": applied.processorSeconds,
    "import, processor time": imported.processorSeconds,
    "snapshot file": statSync(path).size / 1e6,
    "import, peak": imported.peakMegabytes,
    "apply, peak": applied.peakMegabytes,
  };
  return { size, path, changedPath, figures };
}

/**
 * Times requests, each with a different URL; the first half only warms up the servers. They
 * alternate between the sizes, so that other load on the machine affects all sizes equally.
 */
async function timeRequests(communities: Community[]) {
  const targets = await Promise.all(
    communities.map(async (community) => {
      const users = usersOf[community.size] ?? 0;
      const random = createRandom(users);
      const sampleUser = createUserSampler(users, random);
      const server = await openRoadbook(["--snapshot", community.path, "--search-limit", "0"]);
      const connection = await connect(server.origin);
      const [profiles, searches]: [number[], number[]] = [[], []];
      return { community, random, sampleUser, server, connection, profiles, searches };
    }),
  );
  for (let count = 0; count < 2 * REQUESTS; count++) {
    for (const { random, sampleUser, connection, profiles, searches } of targets) {
      const letters = [...sampleUser().name];
      const from = random.below(letters.length - 1);
      const length = 2 + random.below(letters.length - from - 1);
      const query = letters.slice(from, from + length).join("");
      const search = searchPath([...query.trim()].length < 2 ? "an" : query);
      profiles.push(await timeRequest(connection, `/users/public/${sampleUser().id}?n=${count}`));
      searches.push(await timeRequest(connection, `${search}&n=${count}`));
    }
  }
  const secondsAt = (times: number[], share: number) =>
    quantile(times.slice(REQUESTS), share) / 1000;
  const results = targets.map(({ community, server, profiles, searches }) => ({
    community,
    times: {
      "profile, p50": secondsAt(profiles, 0.5),
      "profile, p99": secondsAt(profiles, 0.99),
      "search, p50": secondsAt(searches, 0.5),
      "search, p99": secondsAt(searches, 0.99),
      "server's memory": megabytesOf(server.pid, "RssAnon"),
    },
  }));
  for (const { connection, server } of targets) {
    connection.close();
    await server.close();
  }
  return results;
}

async function timeRequest(connection: Connection, path: string): Promise<number> {
  let response = "";
  const ms = await timed(async () => {
    response = await connection.get(path);
  });
  if (!response.startsWith("HTTP/1.1 200 ")) throw new Error(`${path}: ${response}`);
  return ms;
}

/** Returns the seconds from starting the process until it prints the ready line. */
function timeStart(path: string, ...flags: string[]): Promise<number> {
  return medianOf(ROUNDS, async () => {
    const start = performance.now();
    const server = await openExecutable(["--snapshot", path, ...flags]);
    const ms = performance.now() - start;
    await server.close();
    return ms;
  });
}

/** Returns the seconds from renaming a file until the server first responds from the new file. */
async function timeSwap(path: string, changedPath: string): Promise<number> {
  const served = `${path}.served`;
  copyFileSync(path, served);
  const server = await openExecutable(["--snapshot", served]);
  // The order is reversed in each round, so that the two files alternate.
  const files = [path, changedPath];
  const seconds = await medianOf(ROUNDS, async () => {
    copyFileSync(files.reverse()[0] ?? "", `${served}.new`);
    return timeUntilSwapped(server, () => renameSync(`${served}.new`, served));
  });
  await server.close();
  rmSync(served);
  return seconds;
}

/** Calls `time`, which returns milliseconds, once per round. Returns the median in seconds. */
async function medianOf(rounds: number, time: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  while (times.length < rounds) times.push(await time());
  return median(times) / 1000;
}

function formatTable(sizes: string[], figures: Figures[]): string {
  const rows = Object.entries(metrics).map(([metric, unit]) => {
    const values = figures.map((figuresOfSize) => figuresOfSize[metric as Metric]);
    const [before = 0, last = 0] = values.slice(-2);
    return [metric, ...values.map((value) => format(value, unit)), digits(last / before)];
  });
  return tableOf(["", ...[...sizes, "last tenfold, ×"].map((title) => `${title}:`)], rows);
}

function format(value: number, unit: "s" | "MB"): string {
  if (unit === "MB") return value < 1000 ? `${digits(value)} MB` : `${digits(value / 1000)} GB`;
  if (value < 1e-3) return `${digits(value * 1e6)} µs`;
  return value < 1 ? `${digits(value * 1e3)} ms` : `${digits(value)} s`;
}

const digits = (value: number) => String(Number(value.toPrecision(value < 100 ? 2 : 3)));

const panels: [title: string, unit: "s" | "MB", metrics: Metric[]][] = [
  ["A request", "s", ["profile, p50", "profile, p99", "search, p50", "search, p99"]],
  ["Operations", "s", ["start to ready", "swap", "apply", "import"]],
  ["Memory and disk", "MB", ["server's memory", "snapshot file", "import, peak"]],
];
/** The colours of the curves in a panel, with enough contrast in light and dark mode. */
const colours = {
  light: ["#0969da", "#8250df", "#bc4c00", "#1a7f37", "#cf222e"],
  dark: ["#58a6ff", "#bc8cff", "#f0883e", "#3fb950", "#ff7b72"],
};

/** Draws log-log panels, one below the other, narrow enough for a phone to show at full size. */
function drawPlot(sizes: string[], figures: Figures[]): string {
  const [left, width, height, gap] = [58, 200, 130, 52];
  const logSizes = sizes.map((size) => Math.log10(usersOf[size] ?? 0));
  const [from = 0, to = 1] = [logSizes[0], logSizes.at(-1)];
  const xs = logSizes.map((logSize) => left + (width * (logSize - from)) / (to - from));
  const out: string[] = [];
  const text = (style: string, x: number, y: number, content: string | undefined) =>
    out.push(`<text class="${style}" x="${x}" y="${y}">${content}</text>`);
  for (const [panel, [title, unit, names]] of panels.entries()) {
    const top = 36 + panel * (height + gap);
    const series = names.map((metric) => figures.map((figuresOfSize) => figuresOfSize[metric]));
    const logs = series.flat().map(Math.log10);
    const [low, high] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))];
    const yOf = (value: number) => top + (height * (high - Math.log10(value))) / (high - low);
    text("title", 12, top - 12, title);
    for (let power = low; power <= high; power++) {
      const y = yOf(10 ** power);
      out.push(`<path class="grid" d="M${left} ${y}h${width}"/>`);
      text("end", left - 6, y + 4, format(10 ** power, unit));
    }
    for (const [index, x] of xs.entries()) {
      out.push(`<path class="grid" d="M${x} ${top}v${height}"/>`);
      text("middle", x, top + height + 15, sizes[index]);
    }
    const curves = series.map((values, index) => ({ values, index, y: yOf(values.at(-1) ?? 1) }));
    let free = top - 8;
    for (const { values, index, y } of curves.sort((a, b) => a.y - b.y)) {
      const points = values.map((value, size) => `${xs[size]},${yOf(value)}`);
      out.push(`<polyline class="c${index}" points="${points.join(" ")}"/>`);
      free = Math.max(y, free + 14);
      text(`c${index}`, left + width + 8, free + 4, names[index]);
    }
  }
  const style = (theme: keyof typeof colours) =>
    colours[theme].map((colour, index) => `.c${index}{--c:${colour}}`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 380 ${36 + 3 * (height + gap) - 16}" role="img">
<title>Growth with the number of users</title>
<style>
svg{--card:#fff;--text:#59636e;--grid:#d1d9e0;--title:#1f2328}${style("light")}
@media(prefers-color-scheme:dark){svg{--card:#0d1117;--text:#9198a1;--grid:#30363d;--title:#f0f6fc}${style("dark")}}
text{font:12px system-ui,sans-serif;fill:var(--c,var(--text))}.title{font-weight:600;fill:var(--title)}
.end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke:var(--grid)}
polyline{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}
</style>
<rect width="100%" height="100%" rx="8" fill="var(--card)"/>
${out.join("\n")}
</svg>
`;
}
