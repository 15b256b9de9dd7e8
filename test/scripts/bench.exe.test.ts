/** Tests the command line of the benches, and that the floor responds like Roadbook. */
import { afterAll, expect, test } from "bun:test";
import { closeAll, openFloor, openRoadbook, searchPath } from "../../scripts/bench/server.ts";
import { makeSnapshot } from "../datasets.ts";
import { fixture, root, run } from "../support.ts";

afterAll(closeAll);

const bench = (...args: string[]) =>
  run([process.execPath, "scripts/bench/main.ts", ...args], { cwd: root });

test("a bench runs, --help lists it, and an unknown bench is a usage error", async () => {
  const unknown = await bench("nothing");
  const help = await bench("--help");
  const quick = await bench("start", "--quick");
  expect([unknown.code, unknown.stderr]).toEqual([2, `unknown bench "nothing"\n${help.stdout}`]);
  expect(help.stdout).toContain("\n  start ");
  for (const row of ["Roadbook, demo", "Roadbook, --version", "one record"]) {
    expect(quick.stdout).toMatch(new RegExp(`^\\| ${row} \\| [\\d.,]+ \\| [\\d.,]+ \\|`, "m"));
  }
});

test("the floor responds with the same status, headers and body as Roadbook", async () => {
  const snapshot = await makeSnapshot(fixture);
  const roadbook = await openRoadbook(["--snapshot", snapshot, "--search-limit", "0"]);
  const paths = ["/users/public/42", "/users/42/achievements", searchPath("łukasz & nowak")];
  const floor = await openFloor(roadbook, paths);
  for (const path of paths) {
    const etag = (await fetch(roadbook.origin + path)).headers.get("etag") ?? "";
    for (const headers of [{}, { "if-none-match": "*" }, { "if-none-match": etag }]) {
      const responses = await Promise.all(
        [roadbook, floor].map(async ({ origin }) => {
          const response = await fetch(`${origin}${path}`, { headers });
          const { date, "x-request-id": id, ...rest } = response.headers.toJSON();
          expect(id).toMatch(/^[0-9a-f-]{36}$/);
          return [response.status, rest, await response.text()];
        }),
      );
      expect(responses[1]).toEqual(responses[0] ?? []);
    }
  }
  const unique = await fetch(`${floor.origin}${searchPath("łukasz & nowak")}&n=1`);
  expect(unique.status).toBe(200);
});
