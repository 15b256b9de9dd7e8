/**
 * Owns how long a server takes from its start to its ready line, and what memory of its own it has
 * then, beside others with the same community.
 */
import { alternate, compare, notInstalled, type Row, timed } from "./measure.ts";
import {
  anonymousMegabytesOf,
  buildSnapshot,
  NODE,
  openRival,
  openRoadbook,
  rivals,
  sizeOf,
} from "./server.ts";

const ROUNDS = 7;
/** Until what a start leaves behind is collected. */
const SETTLE_MS = 300;

/** `bun run bench start [--size 1M]` */
export async function* benchStart(args: string[]): AsyncGenerator<Row> {
  const { size, users } = sizeOf(args, "1M");
  const snapshot = await buildSnapshot(users);
  const opens = {
    [`snapshot of ${size}`]: () => openRoadbook(["--snapshot", snapshot]),
    demo: () => openRoadbook([]),
    ...Object.fromEntries(Object.keys(rivals).map((name) => [name, () => openRival(name, users)])),
  };
  const results = await alternate(ROUNDS, opens, async (open) => {
    let server: Awaited<ReturnType<typeof open>>;
    const ms = await timed(async () => {
      server = await open();
    });
    if (!server) return undefined;
    await Bun.sleep(SETTLE_MS);
    const megabytes = anonymousMegabytesOf(server.pid) ?? Number.NaN;
    await server.close();
    return { ms, megabytes };
  });
  const [large = "", demo = ""] = Object.keys(opens);
  for (const ours of [large, demo]) {
    for (const beside of Object.keys(rivals)) {
      const figures = (name: string, figure: "ms" | "megabytes") =>
        results(name).flatMap((result) => result?.[figure] ?? []);
      if (figures(beside, "ms").length === 0) {
        yield notInstalled(`start, ${ours}`, beside, NODE);
        continue;
      }
      for (const [name, figure, unit] of [
        ["start to ready", "ms", "ms"],
        ["memory of its own", "megabytes", "MB"],
      ] as const) {
        yield compare({
          name: `${name}, ${ours}`,
          beside,
          unit,
          as: "time",
          ours: figures(ours, figure),
          theirs: figures(beside, figure),
          headline: ours === large,
        });
      }
    }
  }
}
