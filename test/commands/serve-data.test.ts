/** The data of `serve --data`, in this process. */
import { expect, test } from "bun:test";
import { pino } from "pino";
import { openData } from "../../src/commands/serve-data.ts";
import { fixture } from "../support.ts";

test("looking at the files leaves the event loop free, because a network drive may hang", async () => {
  const data = await openData(fixture, pino({ level: "silent" }));
  const look = data.refresh();
  // Without input or output, it would have ended by now.
  expect(Bun.peek.status(look)).toBe("pending");
  await look;
});
