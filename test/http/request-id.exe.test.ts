/** The id of a request, which only a trusted proxy may give. */
import { expect, test } from "bun:test";
import { openExecutable, type Target } from "../support.ts";

const idOf = async (target: Target, given: string) => {
  const headers = { "x-request-id": given };
  return (await target.fetch("/users/public/42", { headers })).headers.get("x-request-id") ?? "";
};
const made = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

test("X-Request-Id is made anew, whatever a client says", async () => {
  const target = await openExecutable([]);
  const ids = [await idOf(target, "mine"), await idOf(target, "mine")];
  for (const id of ids) expect(id).toMatch(made);
  expect(ids[0]).not.toBe(ids[1]);
  await target.close();
});

test("X-Request-Id is taken from a trusted proxy when it is fit to be logged", async () => {
  const target = await openExecutable(["--trusted-proxy", "127.0.0.1"]);
  for (const fit of ["mine", "7f3a:1/2=+~.@_-", "x".repeat(128)]) {
    expect(await idOf(target, fit)).toBe(fit);
  }
  for (const unfit of ["", "two words", "a,b", '"', "<b>", "x".repeat(129), "\u00fc"]) {
    expect(await idOf(target, unfit)).toMatch(made);
  }
  await target.close();
});

test("X-Request-Id is not taken from a proxy that is not trusted", async () => {
  const target = await openExecutable(["--trusted-proxy", "10.0.0.0/8"]);
  expect(await idOf(target, "mine")).toMatch(made);
  await target.close();
});
