/** Long turns of the event loop are split, so that timers and other requests run in between. */
import { expect, test } from "bun:test";
import { createTurns } from "../../src/server/turns.ts";

/** Keeps the event loop busy for longer than a turn may last. */
function work(): void {
  const endMs = performance.now() + 10;
  while (performance.now() < endMs);
}

test("a request in a long turn waits for a later turn", async () => {
  const inTurn = createTurns();
  const order: string[] = [];
  const handle = (name: string) =>
    inTurn(() => {
      order.push(name);
      work();
    });
  const handled = [handle("first"), handle("second"), handle("third")];
  setImmediate(() => order.push("something else"));
  order.push("end of the turn");
  await Promise.all(handled);
  expect(order).toEqual(["first", "end of the turn", "second", "something else", "third"]);
});
