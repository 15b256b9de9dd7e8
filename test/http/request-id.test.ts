/** Request ids, which only a trusted proxy may choose. */
import { expect, test } from "bun:test";
import { createRoadbook } from "../../src/roadbook.ts";

const generated = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const unsafe = ["", "two words", "a,b", '"', "<b>", "x".repeat(129), "\u00fc"];

test("X-Request-Id is generated, except for a trusted proxy's id that is safe to log", async () => {
  for (const trustedProxies of [[], ["10.0.0.0/8"], ["192.0.2.1"]]) {
    await using roadbook = await createRoadbook({ dataset: [], trustedProxies });
    const idOf = async (given: string) => {
      const request = new Request("http://a.test/nope", { headers: { "x-request-id": given } });
      return (await roadbook.fetch(request, "192.0.2.1")).headers.get("x-request-id") ?? "";
    };
    for (const safe of ["mine", "7f3a:1/2=+~.@_-", "x".repeat(128)]) {
      if (trustedProxies[0] === "192.0.2.1") expect(await idOf(safe)).toBe(safe);
      else expect(await idOf(safe)).toMatch(generated);
    }
    for (const given of unsafe) expect(await idOf(given)).toMatch(generated);
    expect(await idOf("<b>")).not.toBe(await idOf("<b>"));
  }
});
