/** `lazyAsync` keeps a value that was made, but not a failure. */
import { expect, test } from "bun:test";
import { lazyAsync } from "../../src/domain/lazy.ts";

test("calls share what is made, and try again only after a failure", async () => {
  let calls = 0;
  const get = lazyAsync(async () => {
    calls++;
    if (calls === 1) throw new Error("no file");
    return calls;
  });
  await expect(Promise.all([get(), get()])).rejects.toThrow("no file");
  expect(await Promise.all([get(), get()])).toEqual([2, 2]);
  expect(await get()).toBe(2);
});
