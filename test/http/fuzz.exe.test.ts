/** Sends mutated requests to the executable for 2 seconds, or 20 with ROADBOOK_REQUIRE_ALL=1. */
import { expect, test } from "bun:test";
import { fuzz, openFuzzTarget } from "../../scripts/fuzz.ts";

const seconds = process.env.ROADBOOK_REQUIRE_ALL === "1" ? 20 : 2;

test("no request causes a 5xx, a malformed error or a crash", async () => {
  const target = await openFuzzTarget();
  const { requests, statuses } = await fuzz(target.origin, seconds, 20_261_120);
  expect(requests).toBeGreaterThan(100);
  for (const status of ["200", "400", "404", "405"]) expect(statuses[status]).toBeGreaterThan(0);
  await target.close();
}, 60_000);
