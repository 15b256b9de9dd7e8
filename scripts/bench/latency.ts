/**
 * Owns how long clients wait while requests come at a fixed rate, whether or not the server keeps up:
 * what people notice, where throughput is what an operator pays for.
 */
import {
  alternate,
  type Community,
  compare,
  format,
  median,
  quantile,
  type Row,
} from "./measure.ts";
import { loadOpen, type OpenResult } from "./open-loop.ts";
import {
  BARE,
  buildSnapshot,
  drawRequests,
  missingRivals,
  openBare,
  openRivals,
  openRoadbook,
} from "./server.ts";

const ROUNDS = 3;
const SECONDS = 2;
const QUANTILES = { p50: 0.5, p99: 0.99, "p99.9": 0.999 };

export async function* benchLatency({ users }: Community): AsyncGenerator<Row> {
  const snapshot = await buildSnapshot(users);
  const ours = await openRoadbook(["--snapshot", snapshot, "--search-limit", "0"]);
  const rivals = await openRivals(users);
  const { profile, fiveCharacters } = drawRequests(users);
  for (const [kind, requests, perSecond] of [
    ["profile", profile, 2_000],
    ["profile", profile, 10_000],
    ["search, 5 characters", fiveCharacters, 2_000],
  ] as const) {
    const name = `${kind} at ${format(perSecond)}/s`;
    const others = { [BARE]: await openBare(ours, requests), ...rivals };
    const results = await alternate(ROUNDS, { ours, ...others }, ({ origin }) =>
      loadOpen({ origin, ...requests, perSecond, seconds: SECONDS }),
    );
    const lagOurs = lagOf("ours", results("ours"), perSecond);
    for (const beside of Object.keys(others)) {
      const note = [lagOurs, lagOf("theirs", results(beside), perSecond)]
        .filter(Boolean)
        .join(", ");
      for (const [title, share] of Object.entries(QUANTILES)) {
        const figures = (server: string) =>
          results(server).map(({ latenciesMs }) => quantile(latenciesMs, share));
        yield compare({
          name: `${name}, ${title}`,
          beside,
          unit: "ms",
          as: "time",
          ours: figures("ours"),
          theirs: figures(beside),
          headline: title === "p99",
          note,
        });
      }
    }
    yield* missingRivals(rivals, name);
  }
}

/** What is to be said of a server that does not keep up. */
function lagOf(whose: string, results: OpenResult[], perSecond: number): string {
  const answered = median(results.map(({ answeredPerSecond }) => answeredPerSecond));
  return answered < 0.99 * perSecond ? `${whose} answers ${format(answered)}/s` : "";
}
