/** Fault injection in the executable: flags, variables, warnings and usage errors. */
import { expect, test } from "bun:test";
import { openExecutable, roadbook, until } from "./support.ts";

test("faults are off by default, and the log does not mention them", async () => {
  let log = "";
  const target = await openExecutable([], (text) => {
    log += text;
  });
  expect((await target.fetch("/users/public/42")).status).toBe(200);
  await target.close();
  expect(log).not.toMatch(/fault/i);
});

test("repeated flags add up, and each fault is logged as a warning", async () => {
  let log = "";
  const faults = ["--fault", "profile:status=503,rate=1", "--fault", "achievements:close"];
  const target = await openExecutable([...faults, "--fault-seed", "7"], (text) => {
    log += text;
  });
  // Uses the global `fetch`, because `target.fetch` throws on undocumented responses.
  expect((await fetch(`${target.origin}/users/public/42`)).status).toBe(503);
  await expect(target.fetch("/users/42/achievements")).rejects.toThrow();
  expect((await target.fetch("/search/users?q=nowak")).status).toBe(200);
  const warnings = () => log.split("\n").filter((line) => line.includes("FAULT INJECTION IS ON"));
  await until(() => warnings().length === 2);
  expect(JSON.parse(warnings()[0] ?? "")).toMatchObject({
    level: 40,
    fault: { target: "profile", status: 503, rate: 1 },
    faultSeed: 7,
  });
  await target.close();
  // A connection closed by a fault prints nothing besides the log.
  for (const line of log.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("level");
});

test("semicolons separate the faults in the variable", async () => {
  const env = { ROADBOOK_FAULT: "profile:status=404,rate=1; achievements:delay=5ms,status=500" };
  const target = await openExecutable([], undefined, env);
  expect((await target.fetch("/users/public/42")).status).toBe(404);
  expect((await target.fetch("/users/42/achievements")).status).toBe(500);
  await target.close();
});

test.each([
  [
    "search:status=200",
    "--fault must have a status of 400, 405, 429 or 500 to 599 for search, got ",
  ],
  ["close", "--fault must start with a target (search, profile, achievements, health or *), as in"],
  ["", "--fault must not be empty"],
])("--fault %p is a usage error", async (fault, message) => {
  const { code, stderr } = await roadbook(["serve", "--port", "0", "--fault", fault]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
