/** Fault injection in the executable: the variable and the warning. */
import { expect, test } from "bun:test";
import { openExecutable, until } from "../support.ts";

test("faults in the variable add up, and a warning lists them", async () => {
  let log = "";
  const env = { ROADBOOK_FAULT: "profile:status=503; achievements:close" };
  const onLog = (text: string) => {
    log += text;
  };
  const target = await openExecutable(["--fault-seed", "7"], onLog, env);
  // Uses the global `fetch`, because `target.fetch` throws on undocumented responses.
  expect((await fetch(`${target.origin}/users/public/42`)).status).toBe(503);
  await expect(target.fetch("/users/42/achievements")).rejects.toThrow();
  expect((await target.fetch("/search/users?q=nowak")).status).toBe(200);
  const warning = await until(() => /^.*FAULT INJECTION IS ON.*$/m.exec(log));
  expect(JSON.parse(warning[0])).toMatchObject({
    level: "warn",
    fault: "profile:status=503;achievements:close",
    faultSeed: 7,
  });
  await target.close();
  // A connection closed by a fault prints nothing besides the log.
  for (const line of log.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("level");
});
