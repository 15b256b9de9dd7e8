/** `Once` keeps a value that was made, but not a failure. */
import { expect, test } from "bun:test";
import { Once } from "../../src/domain/once.ts";

test("calls share what is made, and try again only after a failure", async () => {
  let calls = 0;
  const once = new Once(async () => {
    calls++;
    if (calls === 1) throw new Error("no file");
    return calls;
  });
  await expect(Promise.all([once.get(), once.get()])).rejects.toThrow("no file");
  expect(await Promise.all([once.get(), once.get()])).toEqual([2, 2]);
  expect(await once.get()).toBe(2);
});
