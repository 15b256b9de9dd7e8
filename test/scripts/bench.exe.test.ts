/** The benches run, and the floor responds as Roadbook does. */
import { afterAll, expect, test } from "bun:test";
import { closeAll, openFloor, openRoadbook, searchPath } from "../../scripts/bench/server.ts";
import { community, importByExecutable, root, run } from "../support.ts";

afterAll(closeAll);

const bench = (...words: string[]) =>
  run([process.execPath, "scripts/bench/main.ts", ...words], { cwd: root });

test.each([[["nothing"]], [["http", "--rounds", "1"]], [["start", "--size", "1G"]], [[]]])(
  "bench %p is wrong usage",
  async (words) => {
    const { code, stdout, stderr } = await bench(...words);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("usage: bun run bench");
  },
);

test("--help lists the benches, and one of them prints what it finds", async () => {
  const names = [...(await bench("--help")).stdout.matchAll(/^ {2}([a-z]\S*) /gm)];
  expect(names.map(([, name]) => name).join(" ")).toBe(
    "http search start import growth bad-days adversary hostile",
  );
  const { stdout } = await bench("adversary", "--quick");
  expect(stdout).toMatch(/^\d+\.\d\d ms {2}".+"$/m);
});

test("the floor honours the contract: the status, headers and body are Roadbook's", async () => {
  const snapshot = await importByExecutable(community);
  const ours = await openRoadbook(["--snapshot", snapshot, "--search-limit", "0"]);
  const paths = ["/users/public/42", "/users/42/achievements", searchPath("łukasz & nowak")];
  const floor = await openFloor(ours, paths);
  for (const path of paths) {
    const etag = (await fetch(ours.origin + path)).headers.get("etag") ?? "";
    for (const headers of [{}, { "if-none-match": "*" }, { "if-none-match": etag }]) {
      const responses = await Promise.all(
        [ours, floor].map(async ({ origin }) => {
          const response = await fetch(`${origin}${path}`, { headers });
          const { date, "x-request-id": id, ...others } = response.headers.toJSON();
          expect(id).toMatch(/^[0-9a-f-]{36}$/);
          return [response.status, others, await response.text()];
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
