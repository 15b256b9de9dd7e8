/**
 * Owns how the figures that people wait for grow with the number of users: a table, and the plot in
 * the README. Through the executable, on an invented community.
 */
import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../src/community/random.ts";
import { parseS3Location } from "../../src/snapshot/remote/location.ts";
import { transfer } from "../../src/snapshot/remote/transfer.ts";
import { openS3Server } from "../../test/snapshot/remote/s3-server.ts";
import { openExecutable, root, temporaryFolder } from "../../test/support.ts";
import { type Connection, connect } from "./connection.ts";
import { median, megabytesOf, type Options, quantile, tableOf, timed } from "./measure.ts";
import {
  command,
  createDraw,
  openRoadbook,
  searchPath,
  seed,
  untilAnother,
  sizes as usersOf,
} from "./server.ts";

const REQUESTS = 2000;
const ROUNDS = 5;
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

export async function benchGrowth({ isQuick }: Options): Promise<void> {
  const sizes = isQuick ? ["10k", "100k"] : Object.keys(usersOf);
  const measured = await measureSizes(sizes);
  console.log(formatTable(sizes, measured));
  if (!isQuick) await Bun.write(join(root, ".github/images/growth.svg"), drawPlot(sizes, measured));
}

async function measureSizes(sizes: string[]): Promise<Measured[]> {
  const say = (text: string) => console.error(`${new Date().toISOString()} ${text}`);
  const all: Built[] = [];
  for (const size of sizes) {
    say(`${size} is built`);
    all.push(await build(size));
  }
  const measured: Measured[] = [];
  for (const { built, times } of await timeRequests(all)) {
    const { size, path, other, figures } = built;
    say(`${size} is served`);
    measured.push({
      ...figures,
      ...times,
      "start to ready": await timeStart(path),
      "start, trusted": await timeStart(path, "--trust-snapshot"),
      swap: await timeSwap(path, other),
      ...(await timePublish(path, other)),
    });
  }
  return measured;
}

type Built = Awaited<ReturnType<typeof build>>;

/** A snapshot, and another with one user less to be seen. */
async function build(size: string) {
  const folder = temporaryFolder();
  const [dataset, changes] = [join(folder, "dataset"), join(folder, "changes")];
  const [path, other] = [join(folder, "snapshot"), join(folder, "other")];
  await seed(usersOf[size] ?? 0, dataset);
  const imported = await command("import", dataset, "--to", path);
  rmSync(dataset);
  copyFileSync(path, other);
  writeFileSync(changes, `{"type":"user","id":1,"public":false}\n`);
  const applied = await command("apply", changes, "--to", other);
  const figures = {
    apply: applied.seconds,
    import: imported.seconds,
    "apply, processor time": applied.processorSeconds,
    "import, processor time": imported.processorSeconds,
    "snapshot file": statSync(path).size / 1e6,
    "import, peak": imported.peakMegabytes,
    "apply, peak": applied.peakMegabytes,
  };
  return { size, path, other, figures };
}

/**
 * Each profile and each query once, so that no answer was there before, after as many others; of
 * all sizes in turns, so that a slower minute of the machine is a slower minute of all.
 */
async function timeRequests(all: Built[]) {
  const targets = await Promise.all(
    all.map(async (built) => {
      const users = usersOf[built.size] ?? 0;
      const random = createRandom(users);
      const draw = createDraw(users, random);
      const server = await openRoadbook(["--snapshot", built.path, "--search-limit", "0"]);
      const connection = await connect(server.origin);
      const [profiles, searches]: [number[], number[]] = [[], []];
      return { built, random, draw, server, connection, profiles, searches };
    }),
  );
  for (let count = 0; count < 2 * REQUESTS; count++) {
    for (const { random, draw, connection, profiles, searches } of targets) {
      const letters = [...draw().name];
      const from = random.below(letters.length - 1);
      const length = 2 + random.below(letters.length - from - 1);
      const query = letters.slice(from, from + length).join("");
      const search = searchPath([...query.trim()].length < 2 ? "an" : query);
      profiles.push(await timeRequest(connection, `/users/public/${draw().id}?n=${count}`));
      searches.push(await timeRequest(connection, `${search}&n=${count}`));
    }
  }
  const secondsAt = (times: number[], share: number) =>
    quantile(times.slice(REQUESTS), share) / 1000;
  const results = targets.map(({ built, server, profiles, searches }) => ({
    built,
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

async function timeRequest({ ask }: Connection, path: string): Promise<number> {
  let answer = "";
  const ms = await timed(async () => {
    answer = await ask(path);
  });
  if (!answer.startsWith("HTTP/1.1 200 ")) throw new Error(`${path}: ${answer}`);
  return ms;
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
  // Reversed each time, so that they take turns.
  const files = [path, other];
  const seconds = await medianOf(ROUNDS, async () => {
    copyFileSync(files.reverse()[0] ?? "", `${served}.new`);
    return untilAnother(server, () => renameSync(`${served}.new`, served));
  });
  await server.close();
  rmSync(served);
  return seconds;
}

/** Seconds from the start of the PUT to its end, and to the first answer out of the new object. */
async function timePublish(path: string, other: string) {
  const store = await openS3Server();
  const url = store.url("growth.snapshot");
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL } = store.env;
  const location = parseS3Location(url, {
    accessKeyId: AWS_ACCESS_KEY_ID ?? "",
    secretAccessKey: AWS_SECRET_ACCESS_KEY ?? "",
    endpoint: AWS_ENDPOINT_URL,
  });
  if (!location) throw new Error(url);
  const put = (file = "") => transfer(location, "PUT", { file, timeoutMs: PUT_MS });
  await put(path);
  const flags = ["--snapshot", url, "--refresh", "1s", "--fetch-timeout", "20m", "--allow-older"];
  const server = await openExecutable(flags, undefined, store.env);
  const puts: number[] = [];
  const files = [path, other];
  const publish = await medianOf(PUBLISH_ROUNDS, () =>
    untilAnother(server, async () => puts.push(await timed(() => put(files.reverse()[0])))),
  );
  await server.close();
  await store.kill();
  return { publish, "publish, the PUT of it": median(puts) / 1000 };
}

/** In seconds, of what gives milliseconds. */
async function medianOf(rounds: number, time: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  while (times.length < rounds) times.push(await time());
  return median(times) / 1000;
}

function formatTable(sizes: string[], measured: Measured[]): string {
  const rows = Object.entries(lines).map(([line, unit]) => {
    const values = measured.map((one) => one[line as Line]);
    const [before = 0, last = 0] = values.slice(-2);
    return [line, ...values.map((value) => format(value, unit)), digits(last / before)];
  });
  return tableOf(["", ...[...sizes, "last tenfold, ×"].map((title) => `${title}:`)], rows);
}

function format(value: number, unit: "s" | "MB"): string {
  if (unit === "MB") return value < 1000 ? `${digits(value)} MB` : `${digits(value / 1000)} GB`;
  if (value < 1e-3) return `${digits(value * 1e6)} µs`;
  return value < 1 ? `${digits(value * 1e3)} ms` : `${digits(value)} s`;
}

const digits = (value: number) => String(Number(value.toPrecision(value < 100 ? 2 : 3)));

const panels: [title: string, unit: "s" | "MB", lines: Line[]][] = [
  ["A request", "s", ["profile, p50", "profile, p99", "search, p50", "search, p99"]],
  ["What the operator waits for", "s", ["start to ready", "swap", "publish", "apply", "import"]],
  ["Memory and disk", "MB", ["server's memory", "snapshot file", "import, peak"]],
];
/** The lines of a panel, readable on the card in light and in dark. */
const colours = {
  light: ["#0969da", "#8250df", "#bc4c00", "#1a7f37", "#cf222e"],
  dark: ["#58a6ff", "#bc8cff", "#f0883e", "#3fb950", "#ff7b72"],
};

/** Log-log, one panel below the other, so narrow that a phone shows it in full size. */
function drawPlot(sizes: string[], measured: Measured[]): string {
  const [left, width, height, gap] = [58, 200, 130, 52];
  const places = sizes.map((size) => Math.log10(usersOf[size] ?? 0));
  const [from = 0, to = 1] = [places[0], places.at(-1)];
  const xs = places.map((place) => left + (width * (place - from)) / (to - from));
  const out: string[] = [];
  const text = (kind: string, x: number, y: number, words: string | undefined) =>
    out.push(`<text class="${kind}" x="${x}" y="${y}">${words}</text>`);
  for (const [at, [title, unit, names]] of panels.entries()) {
    const top = 36 + at * (height + gap);
    const series = names.map((line) => measured.map((one) => one[line]));
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
    const ends = series.map((values, index) => ({ values, index, y: yOf(values.at(-1) ?? 1) }));
    let free = top - 8;
    for (const { values, index, y } of ends.sort((one, other) => one.y - other.y)) {
      const points = values.map((value, size) => `${xs[size]},${yOf(value)}`);
      out.push(`<polyline class="c${index}" points="${points.join(" ")}"/>`);
      free = Math.max(y, free + 14);
      text(`c${index}`, left + width + 8, free + 4, names[index]);
    }
  }
  const style = (theme: keyof typeof colours) =>
    colours[theme].map((colour, index) => `.c${index}{--c:${colour}}`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 380 ${36 + 3 * (height + gap) - 16}" role="img">
<title>How it grows with the number of names</title>
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
