/**
 * Owns how long clients wait while requests come at a fixed rate, whether or not the server keeps up:
 * what people notice, where throughput is what an operator pays for.
 */
import { alternate, compare, format, median, notInstalled, quantile, type Row } from "./measure.ts";
import { loadOpen, type OpenResult } from "./open-loop.ts";
import {
  BARE,
  buildSnapshot,
  drawRequests,
  NODE,
  openBare,
  openRivals,
  openRoadbook,
  sizeOf,
} from "./server.ts";

const ROUNDS = 3;
const SECONDS = 2;
const QUANTILES = { p50: 0.5, p99: 0.99, "p99.9": 0.999 };

/** `bun run bench latency [--size 1M]` */
export async function* benchLatency(args: string[]): AsyncGenerator<Row> {
  const { users } = sizeOf(args, "1M");
  const snapshot = await buildSnapshot(users);
  const ours = await openRoadbook(["--snapshot", snapshot, "--search-limit", "0"]);
  const rivals = await openRivals(users);
  const { profile, fiveCharacters } = drawRequests(users);
  for (const [kind, requests, perSecond] of [
    ["profile", profile, 2_000],
    ["profile", profile, 10_000],
    ["search, 5 characters", fiveCharacters, 2_000],
  ] as const) {
    const bare = await openBare(ours, requests);
    const servers = { ours, [BARE]: bare, ...rivals };
    const results = await alternate(ROUNDS, servers, async (server) =>
      server ? loadOpen({ ...server, ...requests, perSecond, seconds: SECONDS }) : [],
    );
    for (const [beside, server] of Object.entries(servers).slice(1)) {
      const name = `${kind} at ${format(perSecond)}/s`;
      if (!server) {
        yield notInstalled(name, beside, NODE);
        continue;
      }
      const [mine, theirs] = [results("ours").flat(), results(beside).flat()];
      const note = [lagOf("ours", mine, perSecond), lagOf("theirs", theirs, perSecond)];
      for (const [title, share] of Object.entries(QUANTILES)) {
        const figures = (list: OpenResult[]) =>
          list.map(({ latenciesMs }) => quantile(latenciesMs, share));
        yield compare({
          name: `${name}, ${title}`,
          beside,
          unit: "ms",
          as: "time",
          ours: figures(mine),
          theirs: figures(theirs),
          headline: title === "p99",
          note: note.filter(Boolean).join(", "),
        });
      }
    }
    await bare.close();
  }
}

/** What is to be said of a server that does not keep up. */
function lagOf(whose: string, results: OpenResult[], perSecond: number): string {
  const answered = median(results.map(({ answeredPerSecond }) => answeredPerSecond));
  return answered < 0.99 * perSecond ? `${whose} answers ${format(answered)}/s` : "";
}
