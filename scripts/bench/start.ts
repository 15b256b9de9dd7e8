/**
 * Measures how long a server takes from the start of its process to its ready line, and how much
 * memory it uses a second later. The executable is compared with a bare `Bun.serve`, compiled the
 * same way, and with typical implementations.
 */
import { join } from "node:path";
import { megabytesOf, temporaryFolder } from "../../test/support.ts";
import { alternate, formatRounds, type Options, tableOf } from "./measure.ts";
import { buildSnapshot, listRivals, openRoadbook, openServer, type Server } from "./server.ts";

const ROUNDS = 9;
const IDLE_MS = 1000;

/** The smallest program that listens on a port. */
const bare = `
  const server = Bun.serve({ port: 0, fetch: () => new Response("ok") });
  process.stdout.write(\`roadbook listening on \${server.url.origin}\\n\`);
`;

export async function benchStart({ size, users, isQuick }: Options): Promise<void> {
  const snapshot = await buildSnapshot(users);
  const program = await compileBare();
  const servers: Record<string, () => Promise<Server>> = {
    "Roadbook, demo": () => openRoadbook([]),
    [`Roadbook, ${size} users, every byte checked`]: () => openRoadbook(["--snapshot", snapshot]),
    "bare `Bun.serve`, compiled": () => openServer([program]),
    ...listRivals(users),
  };
  // Warm up, because the first start reads the program from disk.
  for (const open of Object.values(servers)) await measure(open);
  const results = await alternate(isQuick ? 1 : ROUNDS, servers, measure);
  const rows = Object.keys(servers).map((name) => [
    name,
    ...(["ms", "resident", "anonymous"] as const).map((figure) =>
      formatRounds(results(name).map((result) => result[figure])),
    ),
  ]);
  console.log(
    tableOf(["server", "ready, ms:", "resident, MB:", "without mapped files, MB:"], rows),
  );
}

async function measure(open: () => Promise<Server>) {
  const start = performance.now();
  const { pid, close } = await open();
  const ms = performance.now() - start;
  await Bun.sleep(IDLE_MS);
  const resident = megabytesOf(pid, "VmRSS");
  const anonymous = megabytesOf(pid, "RssAnon");
  await close();
  return { ms, resident, anonymous };
}

async function compileBare(): Promise<string> {
  const folder = temporaryFolder();
  const source = join(folder, "bare.ts");
  const outfile = join(folder, "bare");
  await Bun.write(source, bare);
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
