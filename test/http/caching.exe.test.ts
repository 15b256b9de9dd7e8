/** Nothing that the server caches outlives the snapshot it came from. */
import { expect, test } from "bun:test";
import { makeFile, makeSnapshot, succeed } from "../datasets.ts";
import { openExecutable, until } from "../support.ts";

test("repeated responses are identical, and a new snapshot replaces all of them", async () => {
  const snapshot = await makeSnapshot();
  const target = await openExecutable(["--snapshot", snapshot, "--search-limit", "0"]);
  const get = async (path: string) => {
    const response = await target.fetch(path);
    return [response.status, response.headers.get("etag"), await response.text()] as const;
  };
  const paths = ["/users/public/44", "/users/44/achievements", "/search/users?q=nora"];
  for (const path of paths) {
    const first = await get(path);
    expect(first[0]).toBe(200);
    for (let times = 0; times < 3; times++) expect(await get(path)).toEqual(first);
  }
  await succeed(["apply", makeFile([{ type: "user", id: 44, public: false }]), "--to", snapshot]);
  await until(async () => (await get("/users/public/44"))[0] !== 200);
  const now = await Promise.all(paths.map(get));
  expect(now.map(([status]) => status)).toEqual([403, 403, 200]);
  for (const [, , text] of now) expect(text).not.toContain("Nora");
  await target.close();
});
