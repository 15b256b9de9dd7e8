/**
 * Owns how many requests a second each endpoint of the executable responds to, with the limit, the
 * metrics and every header on, beside a bare `Bun.serve` that sends the same bytes and headers and
 * beside what people write instead; also by processor time of the server's main thread, which other
 * programs on the machine disturb less. Random users of a large snapshot. Needs wrk.
 */
import { alternate, type Community, compare, notInstalled, type Row } from "./measure.ts";
import {
  BARE,
  buildSnapshot,
  drawRequests,
  missingRivals,
  openBare,
  openRivals,
  openRoadbook,
  processorSecondsOf,
  type Requests,
  type Server,
} from "./server.ts";
import { load, randomRequests } from "./wrk.ts";

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 16;
const FLAGS = "--search-limit 100000 --search-window 1s --admin-port 0".split(" ");

export async function* benchHttp({ users }: Community): AsyncGenerator<Row> {
  if (!Bun.which("wrk")) return yield notInstalled("every endpoint", BARE, "wrk");
  const snapshot = await buildSnapshot(users);
  const ours = await openRoadbook(["--snapshot", snapshot, ...FLAGS]);
  const rivals = await openRivals(users);
  const { profile, achievements, twoCharacters, fiveCharacters } = drawRequests(users);
  const cases: Record<string, Requests> = {
    profile,
    achievements,
    // The rivals know no ETag.
    "profile, 304": { ...profile, headers: { "If-None-Match": "*" } },
    "search, 2 characters": twoCharacters,
    "search, 5 characters": fiveCharacters,
  };
  for (const [name, requests] of Object.entries(cases)) {
    const others = { [BARE]: await openBare(ours, requests), ...(requests.headers ? {} : rivals) };
    const script = randomRequests(requests);
    const results = await alternate(ROUNDS, { ours, ...others }, (server) =>
      measure(server, script),
    );
    const figures = (figure: "perSecond" | "microseconds", beside: string) => ({
      beside,
      ours: results("ours").map((result) => result[figure]),
      theirs: results(beside).map((result) => result[figure]),
    });
    for (const beside of Object.keys(others)) {
      const rates = figures("perSecond", beside);
      yield compare({ name, unit: "requests/s", as: "rate", headline: true, ...rates });
      if (beside !== BARE) continue;
      const costs = figures("microseconds", beside);
      yield compare({ name: `${name}, processor time`, unit: "µs", as: "time", ...costs });
    }
    if (!requests.headers) yield* missingRivals(rivals, name);
  }
}

async function measure({ origin, pid }: Server, script: string) {
  const before = processorSecondsOf(pid, "first thread");
  const result = await load({ origin, script, connections: CONNECTIONS, seconds: SECONDS });
  const spent = processorSecondsOf(pid, "first thread") - before;
  if (result.refused > 0) throw new Error(JSON.stringify(result));
  const perSecond = result.requestsPerSecond;
  return { perSecond, microseconds: (spent * 1e6) / (perSecond * SECONDS) };
}
