/** Tests the command line of the benches, and that the floor responds like Roadbook. */
import { afterAll, expect, test } from "bun:test";
import { closeAll, openFloor, openRoadbook, searchPath } from "../../scripts/bench/server.ts";
import { community, importByExecutable, root, run } from "../support.ts";

afterAll(closeAll);

const bench = (...args: string[]) =>
  run([process.execPath, "scripts/bench/main.ts", ...args], { cwd: root });

test.each([[["nothing"]], [["http", "--rounds", "1"]], [["start", "--size", "1G"]]])(
  "bench %p is a usage error",
  async (args) => {
    const { code, stdout, stderr } = await bench(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("usage: bun run bench");
  },
);

test("--help lists the benches, and a quick bench prints its results", async () => {
  const lines = [...(await bench("--help")).stdout.matchAll(/^ {2}([a-z]\S*) /gm)];
  expect(lines.map(([, name]) => name).join(" ")).toBe(
    "http search spellings start library import growth bad-days adversary hostile",
  );
  const { stdout } = await bench("spellings", "--quick");
  expect(stdout).toMatch(/^\| search, ms, p50 \| [\d.]+ \|/m);
});

test("the floor responds with the same status, headers and body as Roadbook", async () => {
  const snapshot = await importByExecutable(community);
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
  expect([unique.status, (await fetch(`${floor.origin}/users/public/7`)).status]).toEqual([
    200, 404,
  ]);
});
