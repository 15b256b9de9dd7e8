/**
 * Owns what a server takes from its start to its ready line, and what memory it has a second later:
 * the executable beside a bare `Bun.serve` compiled like it, and beside what people write instead.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support.ts";
import { alternate, type Community, compare, type Row } from "./measure.ts";
import {
  buildSnapshot,
  listRivals,
  megabytesOf,
  missingRivals,
  openRoadbook,
  type Server,
  spawnServer,
} from "./server.ts";

const ROUNDS = 9;
const IDLE_MS = 1000;

/** The least that can be compiled, by what prints the ready line: `process.stdout` brings Bun's streams. */
const bares: Record<string, string> = {
  "bare `Bun.serve`, compiled, `process.stdout`": "process.stdout.write",
  "bare `Bun.serve`, compiled, `console.log`": "console.log",
};

const sourceOf = (print: string) => `
  const server = Bun.serve({ port: 0, fetch: () => new Response("ok") });
  ${print}(\`roadbook listening on \${server.url.origin}\\n\`);
`;

/** What is measured, its name and its unit. */
const figures = {
  ms: ["start to ready", "ms"],
  processorMs: ["processor time of a start", "ms"],
  resident: ["resident memory", "MB"],
  anonymous: ["memory of its own", "MB"],
} as const;

export async function* benchStart({ size, users }: Community): AsyncGenerator<Row> {
  const snapshot = await buildSnapshot(users);
  const ours = {
    demo: () => openRoadbook([]),
    [`snapshot of ${size}`]: () => openRoadbook(["--snapshot", snapshot]),
  };
  const others: Record<string, () => Promise<Server>> = {};
  for (const [name, print] of Object.entries(bares)) {
    const program = await compileBare(print);
    others[name] = () => spawnServer([program]);
  }
  Object.assign(others, listRivals(users));
  const opens = { ...ours, ...others };
  // Once before: a program that was never read comes from the disk.
  for (const open of Object.values(opens)) await measure(open);
  const results = await alternate(ROUNDS, opens, measure);
  for (const name of Object.keys(ours)) {
    for (const beside of Object.keys(others)) {
      for (const figure of Object.keys(figures) as (keyof typeof figures)[]) {
        const [about, unit] = figures[figure];
        yield compare({
          name: `${about}, ${name}`,
          beside,
          unit,
          as: beside in bares ? "cost" : "time",
          ours: results(name).map((result) => result[figure]),
          theirs: results(beside).map((result) => result[figure]),
          headline: name === "demo" && (figure === "ms" || figure === "resident"),
        });
      }
    }
    yield* missingRivals(others, `start, ${name}`);
  }
}

async function measure(open: () => Promise<Server>) {
  const start = performance.now();
  const { pid, close } = await open();
  const ms = performance.now() - start;
  const processorMs = processorMsOf(pid);
  await Bun.sleep(IDLE_MS);
  const [resident, anonymous] = [megabytesOf(pid, "VmRSS"), megabytesOf(pid, "RssAnon")];
  await close();
  return { ms, processorMs, resident, anonymous };
}

/** Of all threads, in user and system mode: another program on the same core disturbs it less. */
function processorMsOf(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

async function compileBare(print: string): Promise<string> {
  const folder = temporaryFolder();
  const [source, outfile] = [join(folder, "bare.ts"), join(folder, "bare")];
  await Bun.write(source, sourceOf(print));
  await Bun.build({
    entrypoints: [source],
    target: "bun",
    minify: { whitespace: true, syntax: true },
    bytecode: true,
    format: "esm",
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
  return outfile;
}
