/**
 * Owns what the executable takes beyond the least that a server under Bun can: a compiled `Bun.serve`
 * with one response. Time and processor time from exec to the ready line, idle memory a second later.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { executable, readyOrigin, temporaryFolder } from "../../test/support.ts";
import { alternate, format, median } from "./measure.ts";
import { buildSnapshot, sizeOf } from "./server.ts";

const ROUNDS = 30;
/** Memory varies less, and a second is long. */
const MEMORY_ROUNDS = 3;
const IDLE_MS = 1000;

const bareSource = `const server = Bun.serve({ port: 0, fetch: () => new Response("ok") });
console.log(\`roadbook listening on \${server.url.origin}\`);
`;

type Figures = Record<"ms" | "cpuMs" | "rss" | "anonymous", number>;

/** `bun run bench floor [--size 1M]` */
export async function benchFloor(args: string[]): Promise<void> {
  const snapshot = await buildSnapshot(sizeOf(args, "1M").users);
  const program = await executable();
  const bare = await compileBare();
  const commands: Record<string, string[]> = {
    bare: [bare],
    demo: [program, "serve", "--port", "0"],
    snapshot: [program, "serve", "--port", "0", "--trust-snapshot", "--snapshot", snapshot],
  };
  const starts = await alternate(ROUNDS, commands, (command) => measure(command));
  const idle = await alternate(MEMORY_ROUNDS, commands, (command) => measure(command, IDLE_MS));
  for (const [results, figure, unit] of [
    [starts, "ms", "ms to the ready line"],
    [starts, "cpuMs", "ms of processor time"],
    [idle, "rss", "MB resident"],
    [idle, "anonymous", "MB anonymous"],
  ] as const) {
    const figureOf = (name: string) => median(results(name).map((one) => one[figure]));
    for (const name of Object.keys(commands)) {
      const value = figureOf(name);
      console.log(
        `${name}  ${format(value)} ${unit}, ${format(value / figureOf("bare"))} times bare`,
      );
    }
  }
}

async function compileBare(): Promise<string> {
  const folder = temporaryFolder();
  const [source, outfile] = [join(folder, "bare.ts"), join(folder, "bare")];
  await Bun.write(source, bareSource);
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

/** Starts a server and ends it: how long it took, or what it holds after so long. */
async function measure(command: string[], idleMs = 0): Promise<Figures> {
  const start = performance.now();
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "ignore" });
  await readyOrigin(child.stdout);
  const ms = performance.now() - start;
  const cpuMs = processorMs(child.pid);
  if (idleMs > 0) await Bun.sleep(idleMs);
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const megabytes = (key: string) =>
    Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]) / 1000;
  const figures = { ms, cpuMs, rss: megabytes("VmRSS"), anonymous: megabytes("RssAnon") };
  child.kill("SIGKILL");
  await child.exited;
  return figures;
}

/** Of all threads, in user and system mode: another program on the same core disturbs it less. */
function processorMs(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}
