/** Request ids, which only a trusted proxy may choose. */
import { expect, test } from "bun:test";
import { openExecutable, type Target } from "../support.ts";

const idOf = async (target: Target, given: string) => {
  const headers = { "x-request-id": given };
  return (await target.fetch("/users/public/42", { headers })).headers.get("x-request-id") ?? "";
};
const generated = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

test("X-Request-Id is generated, whatever a client sends", async () => {
  const target = await openExecutable([]);
  const ids = [await idOf(target, "mine"), await idOf(target, "mine")];
  for (const id of ids) expect(id).toMatch(generated);
  expect(ids[0]).not.toBe(ids[1]);
  await target.close();
});

test("X-Request-Id from a trusted proxy is used if it is safe to log", async () => {
  const target = await openExecutable(["--trusted-proxy", "127.0.0.1"]);
  for (const safe of ["mine", "7f3a:1/2=+~.@_-", "x".repeat(128)]) {
    expect(await idOf(target, safe)).toBe(safe);
  }
  for (const unsafe of ["", "two words", "a,b", '"', "<b>", "x".repeat(129), "\u00fc"]) {
    expect(await idOf(target, unsafe)).toMatch(generated);
  }
  await target.close();
});

test("X-Request-Id from an untrusted proxy is ignored", async () => {
  const target = await openExecutable(["--trusted-proxy", "10.0.0.0/8"]);
  expect(await idOf(target, "mine")).toMatch(generated);
  await target.close();
});
