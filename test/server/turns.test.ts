/** Long ticks of the event loop are split, so that timers and other requests run in between. */
import { expect, test } from "bun:test";
import { spreadOverTicks } from "../../src/server/turns.ts";

/** Keeps the event loop busy for longer than a tick may last. */
function work(): void {
  const endMs = performance.now() + 10;
  while (performance.now() < endMs);
}

test("a request in a long tick waits for a later tick", async () => {
  const spread = spreadOverTicks();
  const order: string[] = [];
  const handle = (name: string) =>
    spread(() => {
      order.push(name);
      work();
    });
  const handled = [handle("first"), handle("second"), handle("third")];
  setImmediate(() => order.push("something else"));
  order.push("end of the tick");
  await Promise.all(handled);
  expect(order).toEqual(["first", "end of the tick", "second", "something else", "third"]);
});
