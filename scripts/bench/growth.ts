/**
 * Owns how what people wait for grows with the number of names: a table with the law of each line, in
 * RESULTS.md, and the plot in the README. Through the executable, on an invented community.
 */
import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRandom } from "../../src/community/random.ts";
import { parseS3Location } from "../../src/snapshot/remote/location.ts";
import { transfer } from "../../src/snapshot/remote/transfer.ts";
import { openS3Server } from "../../test/snapshot/remote/s3-server.ts";
import { openExecutable, root, type Target, temporaryFolder } from "../../test/support.ts";
import { compare, quantile, type Row } from "./measure.ts";
import { command, createDraw, searchPath, serve, usersOf } from "./server.ts";

const REQUESTS = 2000;
const ROUNDS = 5;
const TENFOLD_ROUNDS = 3;
/** The publishing of ten million moves 15 GB a round. */
const PUBLISH_ROUNDS = 3;
const PUT_MS = 1_200_000;

const lines = {
  "profile, p50": "s",
  "profile, p99": "s",
  "search, p50": "s",
  "search, p99": "s",
  "start to ready": "s",
  "start, trusted": "s",
  swap: "s",
  publish: "s",
  "publish, the PUT of it": "s",
  apply: "s",
  import: "s",
  "apply, processor time": "s",
  "import, processor time": "s",
  "server's memory": "MB",
  "snapshot file": "MB",
  "import, peak": "MB",
  "apply, peak": "MB",
} as const;
type Line = keyof typeof lines;
type Measured = Record<Line, number>;

/** `bun run bench growth [--sizes 10k,100k] [--save]`; without sizes all of them, and saved. */
export async function benchGrowth(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { sizes: { type: "string" }, save: { type: "boolean" } },
  });
  const sizes = (values.sizes ?? "10k,100k,1M,10M").split(",");
  const measured = await measureSizes(sizes);
  const table = formatTable(sizes, measured);
  console.log(table);
  if (!values.save && values.sizes) return;
  await writeSection(table);
  await Bun.write(
    join(root, ".github/images/growth.svg"),
    drawPlot(sizes.map(usersOf), measured, sizes),
  );
}

/** What ten times as many names cost, of the sizes that are measured soon. */
export async function* benchTenfold(): AsyncGenerator<Row> {
  const rounds: Measured[][] = [];
  while (rounds.length < TENFOLD_ROUNDS) rounds.push(await measureSizes(["10k", "100k"]));
  for (const [line, unit] of Object.entries(lines)) {
    const valuesOf = (at: number) => rounds.map((sizes) => sizes[at]?.[line as Line] ?? Number.NaN);
    yield compare({
      name: line,
      beside: "the same with 10k users",
      unit,
      as: "cost",
      ours: valuesOf(1),
      theirs: valuesOf(0),
    });
  }
}

async function measureSizes(sizes: string[]): Promise<Measured[]> {
  const built: Built[] = [];
  const measured: Measured[] = [];
  for (const size of sizes) {
    console.error(`${new Date().toISOString()} ${size} is built`);
    built.push(await build(usersOf(size)));
  }
  const requests = await timeRequests(built);
  for (const [at, size] of sizes.entries()) {
    console.error(`${new Date().toISOString()} ${size} is served`);
    const one = built[at];
    const times = requests[at];
    if (one && times) measured.push({ ...one.measured, ...times, ...(await timeServer(one)) });
  }
  return measured;
}

interface Built {
  users: number;
  path: string;
  /** The same with one user less to be seen. */
  other: string;
  measured: Pick<
    Measured,
    `${"apply" | "import"}${"" | ", processor time" | ", peak"}` | "snapshot file"
  >;
}

async function build(users: number): Promise<Built> {
  const folder = temporaryFolder();
  const [dataset, changes] = [join(folder, "dataset"), join(folder, "changes")];
  const [path, other] = [join(folder, "snapshot"), join(folder, "other")];
  await command("seed", "--users", `${users}`, "--to", dataset);
  const imported = await command("import", dataset, "--to", path);
  rmSync(dataset);
  copyFileSync(path, other);
  writeFileSync(changes, `{"type":"user","id":1,"public":false}\n`);
  const applied = await command("apply", changes, "--to", other);
  const measured = {
    apply: applied.seconds,
    import: imported.seconds,
    "apply, processor time": applied.processorSeconds,
    "import, processor time": imported.processorSeconds,
    "snapshot file": statSync(path).size / 1e6,
    "import, peak": imported.peakMegabytes,
    "apply, peak": applied.peakMegabytes,
  };
  return { users, path, other, measured };
}

async function timeServer({ path, other }: Built) {
  return {
    "start to ready": await timeStart(path),
    "start, trusted": await timeStart(path, "--trust-snapshot"),
    swap: await timeSwap(path, other),
    ...(await timePublish(path, other)),
  };
}

/**
 * Each profile and each query once, so that no answer was there before, after as many others; of all
 * sizes in turns, so that a slower minute of the machine is a slower minute of all.
 */
async function timeRequests(built: Built[]) {
  const targets = await Promise.all(
    built.map(async ({ path, users }) => {
      const random = createRandom(users);
      const server = await serve(path);
      const [profiles, searches]: [number[], number[]] = [[], []];
      return { random, draw: createDraw(users, random), server, profiles, searches };
    }),
  );
  for (let count = 0; count < 2 * REQUESTS; count++) {
    for (const { random, draw, server, profiles, searches } of targets) {
      const letters = [...draw().name];
      const from = random.below(letters.length - 1);
      const length = 2 + random.below(letters.length - from - 1);
      const query = letters.slice(from, from + length).join("");
      profiles.push(await server.time(`/users/public/${draw().id}`));
      searches.push(await server.time(searchPath([...query.trim()].length < 2 ? "an" : query)));
    }
  }
  const results = targets.map(({ server, profiles, searches }) => ({
    "profile, p50": quantile(profiles.slice(REQUESTS), 0.5) / 1000,
    "profile, p99": quantile(profiles.slice(REQUESTS), 0.99) / 1000,
    "search, p50": quantile(searches.slice(REQUESTS), 0.5) / 1000,
    "search, p99": quantile(searches.slice(REQUESTS), 0.99) / 1000,
    "server's memory": server.anonymousMegabytes() ?? Number.NaN,
  }));
  for (const { server } of targets) await server.close();
  return results;
}

/** Seconds from the start of the command to its ready line. */
function timeStart(path: string, ...flags: string[]): Promise<number> {
  return medianOf(ROUNDS, async () => {
    const start = performance.now();
    const server = await openExecutable(["--snapshot", path, ...flags]);
    const ms = performance.now() - start;
    await server.close();
    return ms;
  });
}

/** Seconds from the rename to the first answer out of the other file. */
async function timeSwap(path: string, other: string): Promise<number> {
  const served = `${path}.served`;
  copyFileSync(path, served);
  const server = await openExecutable(["--snapshot", served]);
  let next = other;
  const seconds = await medianOf(ROUNDS, async () => {
    copyFileSync(next, `${served}.new`);
    next = next === other ? path : other;
    return untilAnother(server, async () => renameSync(`${served}.new`, served));
  });
  await server.close();
  rmSync(served);
  return seconds;
}

/** Seconds from the start of the PUT to its end, and to the first answer out of the new object. */
async function timePublish(path: string, other: string) {
  const store = await openS3Server();
  const url = store.url("growth.snapshot");
  const { AWS_ACCESS_KEY_ID: accessKeyId = "", AWS_SECRET_ACCESS_KEY: secretAccessKey = "" } =
    store.env;
  const location = parseS3Location(url, {
    accessKeyId,
    secretAccessKey,
    endpoint: store.env.AWS_ENDPOINT_URL,
  });
  if (!location) throw new Error(url);
  const put = (file: string) => transfer(location, "PUT", { file, timeoutMs: PUT_MS });
  await put(path);
  const flags = ["--snapshot", url, "--refresh", "1s", "--fetch-timeout", "20m", "--allow-older"];
  const server = await openExecutable(flags, undefined, store.env);
  const puts: number[] = [];
  let next = other;
  const publish = await medianOf(PUBLISH_ROUNDS, () =>
    untilAnother(server, async () => {
      const start = performance.now();
      await put(next);
      puts.push(performance.now() - start);
      next = next === other ? path : other;
    }),
  );
  await server.close();
  await store.kill();
  return { publish, "publish, the PUT of it": quantile(puts, 0.5) / 1000 };
}

/** Milliseconds from the start of `act` until the server answers from another snapshot. */
async function untilAnother(server: Target, act: () => Promise<void>): Promise<number> {
  const identity = async () =>
    (await (await server.fetch("/health")).json()).snapshot.dataset_sha256 as string;
  const before = await identity();
  const start = performance.now();
  await act();
  while ((await identity()) === before) await Bun.sleep(1);
  return performance.now() - start;
}

/** In seconds, of what gives milliseconds. */
async function medianOf(rounds: number, time: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  while (times.length < rounds) times.push(await time());
  return quantile(times, 0.5) / 1000;
}

/** How a line grows: the exponent of n that fits best, and what it has become tenfold by at the end. */
function lawOf(sizes: number[], values: number[]): string[] {
  const [xs, ys] = [sizes.map(Math.log10), values.map(Math.log10)];
  const mean = (list: number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
  const [x, y] = [mean(xs), mean(ys)];
  const slope =
    mean(xs.map((one, at) => (one - x) * ((ys[at] ?? 0) - y))) /
    mean(xs.map((one) => (one - x) ** 2));
  const [before = 0, last = 0] = ys.slice(-2);
  const [from = 0, to = 0] = xs.slice(-2);
  const lastSlope = (last - before) / (to - from);
  const law =
    lastSlope > 0.85
      ? slope > 0.85
        ? "linear"
        : "a fixed part, then linear"
      : slope < 0.1
        ? "flat"
        : slope < 0.25
          ? "logarithmic"
          : "less than linear";
  return [slope.toFixed(2), (10 ** lastSlope).toFixed(1), law];
}

function formatTable(names: string[], measured: Measured[]): string {
  const head = ["", ...names, "exponent", "last tenfold, ×", "law"];
  const rows = Object.entries(lines).map(([line, unit]) => {
    const values = measured.map((one) => one[line as Line]);
    return [line, ...values.map((one) => format(one, unit)), ...lawOf(names.map(usersOf), values)];
  });
  const rule = head.map((_, at) => (at === 0 || at === head.length - 1 ? "---" : "--:"));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function format(value: number, unit: "s" | "MB"): string {
  if (unit === "MB") return value < 1000 ? `${digits(value)} MB` : `${digits(value / 1000)} GB`;
  if (value < 1e-3) return `${digits(value * 1e6)} µs`;
  return value < 1 ? `${digits(value * 1e3)} ms` : `${digits(value)} s`;
}

const digits = (value: number) => String(Number(value.toPrecision(value < 100 ? 2 : 3)));

/** The other sections stay. */
async function writeSection(table: string): Promise<void> {
  const path = join(import.meta.dir, "RESULTS.md");
  const sections = (await Bun.file(path).text()).split(/^(?=## )/m);
  const others = sections.filter((section) => !section.startsWith("## Growth\n"));
  const text =
    "Written by `bun run bench growth`, with how each line grows with the number of names.";
  await Bun.write(path, `${others.join("").trimEnd()}\n\n## Growth\n\n${text}\n\n${table}\n`);
}

const panels: [title: string, unit: "s" | "MB", lines: Line[]][] = [
  ["A request", "s", ["profile, p50", "profile, p99", "search, p50", "search, p99"]],
  ["What the operator waits for", "s", ["start to ready", "swap", "publish", "apply", "import"]],
  ["Memory and disk", "MB", ["server's memory", "snapshot file", "import, peak"]],
];
/** Readable on the card in light and in dark. */
const colours = ["#0969da #58a6ff", "#8250df #bc8cff", "#bc4c00 #f0883e", "#1a7f37 #3fb950"];
colours.push("#cf222e #ff7b72");

/** Log-log, one panel below the other, so narrow that a phone shows it in full size. */
function drawPlot(sizes: number[], measured: Measured[], names: string[]): string {
  const [left, width, height, gap] = [58, 200, 130, 52];
  const [from = 1, to = 10] = [sizes[0], sizes.at(-1)].map((n) => Math.log10(n ?? 1));
  const x = (n: number) => left + (width * (Math.log10(n) - from)) / (to - from);
  const out: string[] = [];
  for (const [at, [title, unit, names_]] of panels.entries()) {
    const top = 36 + at * (height + gap);
    const series = names_.map((line) => measured.map((one) => one[line]));
    const logs = series.flat().map(Math.log10);
    const [low, high] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))];
    const y = (value: number) => top + (height * (high - Math.log10(value))) / (high - low);
    out.push(`<text class="title" x="12" y="${top - 12}">${title}</text>`);
    for (let power = low; power <= high; power++) {
      const height_ = y(10 ** power);
      out.push(
        `<path class="grid" d="M${left} ${height_}h${width}"/>`,
        `<text class="end" x="${left - 6}" y="${height_ + 4}">${format(10 ** power, unit)}</text>`,
      );
    }
    for (const [index, n] of sizes.entries()) {
      out.push(
        `<path class="grid" d="M${x(n)} ${top}v${height}"/>`,
        `<text class="middle" x="${x(n)}" y="${top + height + 15}">${names[index]}</text>`,
      );
    }
    const ends = series.map((values, index) => ({ index, y: y(values.at(-1) ?? 1) }));
    ends.sort((one, other) => one.y - other.y);
    let free = top - 8;
    for (const end of ends) {
      const points = (series[end.index] ?? []).map((value, i) => `${x(sizes[i] ?? 1)},${y(value)}`);
      free = Math.max(end.y, free + 14);
      out.push(
        `<polyline class="c${end.index}" points="${points.join(" ")}"/>`,
        `<text class="c${end.index}" x="${left + width + 8}" y="${free + 4}">${names_[end.index]}</text>`,
      );
    }
  }
  const style = (theme: 0 | 1) =>
    colours.map((pair, at) => `.c${at}{--c:${pair.split(" ")[theme]}}`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 380 ${36 + 3 * (height + gap) - 16}" role="img">
<title>How it grows with the number of names</title>
<style>
svg{--card:#fff;--text:#59636e;--grid:#d1d9e0;--title:#1f2328}${style(0)}
@media(prefers-color-scheme:dark){svg{--card:#0d1117;--text:#9198a1;--grid:#30363d;--title:#f0f6fc}${style(1)}}
text{font:12px system-ui,sans-serif;fill:var(--c,var(--text))}.title{font-weight:600;fill:var(--title)}
.end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke:var(--grid)}
polyline{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}
</style>
<rect width="100%" height="100%" rx="8" fill="var(--card)"/>
${out.join("\n")}
</svg>
`;
}
