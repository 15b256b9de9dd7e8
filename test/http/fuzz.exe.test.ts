/** Sends mutated requests to the executable, four times as many with ROADBOOK_REQUIRE_ALL=1. */
import { expect, test } from "bun:test";
import { fuzz, openFuzzTarget } from "../../scripts/fuzz.ts";

const wanted = process.env.ROADBOOK_REQUIRE_ALL === "1" ? 4000 : 1000;

test("no request causes a 5xx, a malformed error or a crash", async () => {
  const target = await openFuzzTarget();
  const { statuses } = await fuzz(target.origin, 20_261_120, (requests) => requests >= wanted);
  for (const status of ["200", "400", "404", "405"]) expect(statuses[status]).toBeGreaterThan(0);
  await target.close();
});
