/**
 * Measures how long programs take from the start of their process: servers until their ready line,
 * with their memory a second later, and commands until they exit. They are compared with the smallest
 * programs of their kind, which `bun build --compile` makes. Then `createRoadbook` is measured in this
 * process, as a test rig calls it.
 */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRoadbook, type RoadbookOptions } from "../../src/library.ts";
import { executable, megabytesOf, root, run, temporaryFolder } from "../../test/support.ts";
import {
  alternate,
  format,
  formatRounds,
  median,
  type Options,
  tableOf,
  timed,
} from "./measure.ts";
import { BESIDE, buildSnapshot, listRivals, openServer, ROADBOOK, type Server } from "./server.ts";

const ROUNDS = 21;
const IDLE_MS = 1000;
/** As many as the demo has. */
const SMALL = 3000;

const HELLO = "hello world in Elysia";
const hello = `
  import { Elysia } from "elysia";
  const app = new Elysia().get("/", () => "Hello").listen({ port: 0, hostname: "127.0.0.1" });
  console.log(\`roadbook listening on \${app.server.url.origin}\`);
`;

const BARE = "bare program";
const bare = `console.log("1.0.0");`;

/** The least that `health` can do. */
const FETCH = "bare program with a fetch";
const fetching = `console.log(await (await fetch(process.argv[2])).text());`;

export async function benchStart(options: Options): Promise<void> {
  const rounds = options.isQuick ? 1 : ROUNDS;
  const helloMs = await benchServers(options, rounds);
  await benchCommands(options, rounds);
  await benchLibrary(rounds, helloMs);
}

/** Returns the median time of the hello world. */
async function benchServers({ size, users, beside }: Options, rounds: number): Promise<number> {
  const open = await compile(hello);
  const roadbook = await executable();
  const serve = (program: string, ...args: string[]) => {
    return () => openServer([program, "serve", "--port", "0", ...args]);
  };
  const servers: Record<string, () => Promise<Server>> = {
    [`${ROADBOOK}, demo`]: serve(roadbook),
    [`${ROADBOOK}, 3k users`]: serve(roadbook, "--snapshot", await buildSnapshot(SMALL)),
    [`${ROADBOOK}, ${size} users`]: serve(roadbook, "--snapshot", await buildSnapshot(users)),
    ...(beside && { [`${BESIDE}, demo`]: serve(beside) }),
    [HELLO]: () => openServer([open]),
    ...listRivals(users),
  };
  const results = await measureAll(rounds, servers, measureServer);

  const msOf = (name: string) => results(name).map(({ ms }) => ms);
  const rows = Object.keys(servers).map((name) => [
    name,
    formatRounds(msOf(name)),
    format(median(msOf(name)) / median(msOf(HELLO))),
    formatRounds(results(name).map(({ resident }) => resident)),
    formatRounds(results(name).map(({ anonymous }) => anonymous)),
  ]);
  const memory = ["resident, MB:", "without mapped files, MB:"];
  console.log(tableOf(["server", "ready, ms:", `÷ ${HELLO}:`, ...memory], rows));
  return median(msOf(HELLO));
}

async function measureServer(open: () => Promise<Server>) {
  const start = performance.now();
  const { pid, close } = await open();
  const ms = performance.now() - start;
  await Bun.sleep(IDLE_MS);
  const resident = megabytesOf(pid, "VmRSS");
  const anonymous = megabytesOf(pid, "RssAnon");
  await close();
  return { ms, resident, anonymous };
}

async function benchCommands({ beside }: Options, rounds: number): Promise<void> {
  // A copy, because hiding changes it.
  const snapshot = join(temporaryFolder(), "snapshot");
  copyFileSync(await buildSnapshot(SMALL), snapshot);
  const server = await openServer([await executable(), "serve", "--port", "0"]);
  const lines = [
    "--version",
    "--help",
    `health ${server.origin}`,
    `check ${snapshot}`,
    `hide 42 --to ${snapshot}`,
  ];
  const programs = { [ROADBOOK]: await executable(), ...(beside && { [BESIDE]: beside }) };
  const commands: Record<string, string[]> = {
    [BARE]: [await compile(bare)],
    [FETCH]: [await compile(fetching), `${server.origin}/health`],
  };
  for (const [name, program] of Object.entries(programs)) {
    for (const line of lines) commands[nameOf(name, line)] = [program, ...line.split(" ")];
  }
  const results = await measureAll(rounds, commands, (command) => timed(() => run(command)));
  await server.close();

  const rows = Object.keys(commands).map((name) => [
    name,
    formatRounds(results(name)),
    format(median(results(name)) / median(results(BARE))),
  ]);
  console.log(`\n${tableOf(["command", "ms:", `÷ ${BARE}:`], rows)}`);
}

const nameOf = (program: string, line: string) => `${program}, ${line.split(" ")[0]}`;

async function benchLibrary(rounds: number, helloMs: number): Promise<void> {
  const uses: Record<string, RoadbookOptions> = {
    "the demo": { demo: true },
    "one record": { dataset: [{ type: "user", id: 43, public: false }] },
  };
  const results = await measureAll(rounds, uses, (options) =>
    timed(async () => (await createRoadbook(options)).close()),
  );
  const rows = Object.keys(uses).map((name) => [
    name,
    formatRounds(results(name)),
    format(median(results(name)) / helloMs),
  ]);
  console.log(`\n${tableOf(["`createRoadbook`", "ms:", `÷ ${HELLO}:`], rows)}`);
}

/** Also measures each once before, because the first start reads the program from disk. */
async function measureAll<Subject, Value>(
  rounds: number,
  subjects: Record<string, Subject>,
  measure: (subject: Subject) => Promise<Value>,
) {
  for (const subject of Object.values(subjects)) await measure(subject);
  return alternate(rounds, subjects, measure);
}

/** Compiles a program as its author would, and returns the path of the executable. */
async function compile(code: string): Promise<string> {
  const outfile = join(temporaryFolder(), "program");
  // In the project, where it finds Elysia.
  const source = join(root, `.bench-${process.pid}.ts`);
  writeFileSync(source, code);
  try {
    await Bun.build({ entrypoints: [source], target: "bun", compile: { outfile } });
  } finally {
    await Bun.file(source).delete();
  }
  return outfile;
}
