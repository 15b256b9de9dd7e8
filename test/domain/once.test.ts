/** `once` keeps a value that was made, but not a failure. */
import { expect, test } from "bun:test";
import { once } from "../../src/domain/once.ts";

test("calls share what is made, and try again only after a failure", async () => {
  let calls = 0;
  const get = once(async () => {
    calls++;
    if (calls === 1) throw new Error("no file");
    return calls;
  });
  await expect(Promise.all([get(), get()])).rejects.toThrow("no file");
  expect(await Promise.all([get(), get()])).toEqual([2, 2]);
  expect(await get()).toBe(2);
});
