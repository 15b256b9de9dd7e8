/**
 * Owns what a server takes from its start to its ready line, and what memory it has a second later:
 * the executable beside a bare `Bun.serve` compiled like it, and beside what people write instead.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readyOrigin, temporaryFolder } from "../../test/support.ts";
import { alternate, compare, notInstalled, type Row, timed } from "./measure.ts";
import {
  buildSnapshot,
  NODE,
  openRival,
  openRoadbook,
  rivals,
  type Server,
  sizeOf,
  stopper,
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

/** `bun run bench start [--size 1M]` */
export async function* benchStart(args: string[]): AsyncGenerator<Row> {
  const { size, users } = sizeOf(args, "1M");
  const snapshot = await buildSnapshot(users);
  const compiled = await Promise.all(Object.values(bares).map(compileBare));
  const ours = {
    demo: () => openRoadbook([]),
    [`snapshot of ${size}`]: () => openRoadbook(["--snapshot", snapshot]),
  };
  const others = {
    ...Object.fromEntries(
      Object.keys(bares).map((name, at) => [name, () => spawn(compiled[at] ?? "")]),
    ),
    ...Object.fromEntries(Object.keys(rivals).map((name) => [name, () => openRival(name, users)])),
  };
  const opens = { ...ours, ...others };
  // Once before: a program that was never read comes from the disk.
  for (const open of Object.values(opens)) await measure(open);
  const results = await alternate(ROUNDS, opens, measure);
  for (const [at, name] of Object.keys(ours).entries()) {
    for (const beside of Object.keys(others)) {
      const valuesOf = (server: string, figure: keyof typeof figures) =>
        results(server).flatMap((result) => result?.[figure] ?? []);
      if (valuesOf(beside, "ms").length === 0) yield notInstalled(`start, ${name}`, beside, NODE);
      else {
        for (const figure of Object.keys(figures) as (keyof typeof figures)[]) {
          const [about, unit] = figures[figure];
          yield compare({
            name: `${about}, ${name}`,
            beside,
            unit,
            as: beside in bares ? "cost" : "time",
            ours: valuesOf(name, figure),
            theirs: valuesOf(beside, figure),
            headline: at === 0 && (figure === "ms" || figure === "resident"),
          });
        }
      }
    }
  }
}

async function measure(open: () => Promise<Server | undefined>) {
  let server: Server | undefined;
  const ms = await timed(async () => {
    server = await open();
  });
  if (!server) return undefined;
  const { pid, close } = server;
  const processorMs = processorMsOf(pid);
  await Bun.sleep(IDLE_MS);
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (key: string) =>
    Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1000;
  await close();
  return { ms, processorMs, resident: megabytes("VmRSS"), anonymous: megabytes("RssAnon") };
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

async function spawn(program: string): Promise<Server> {
  const child = Bun.spawn([program], { stdout: "pipe" });
  const close = stopper(child);
  return { origin: await readyOrigin(child.stdout), pid: child.pid, close };
}
