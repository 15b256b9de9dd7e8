/** What is cached, when the snapshot that it is of goes. */
import { expect, test } from "bun:test";
import { makeFile, makeSnapshot, succeed } from "../datasets.ts";
import { openExecutable, until } from "../support.ts";

test("a response is the same each time, and what is cached of it goes with its snapshot", async () => {
  const snapshot = await makeSnapshot();
  const target = await openExecutable(["--snapshot", snapshot, "--search-limit", "0"]);
  const ask = async (path: string) => {
    const response = await target.fetch(path);
    return [response.status, response.headers.get("etag"), await response.text()] as const;
  };
  const asked = ["/users/public/44", "/users/44/achievements", "/search/users?q=nora"];
  for (const path of asked) {
    const first = await ask(path);
    expect(first[0]).toBe(200);
    for (let times = 0; times < 3; times++) expect(await ask(path)).toEqual(first);
  }
  await succeed(["apply", makeFile([{ type: "user", id: 44, public: false }]), "--to", snapshot]);
  await until(async () => (await ask("/users/public/44"))[0] !== 200);
  const now = await Promise.all(asked.map(ask));
  expect(now.map(([status]) => status)).toEqual([403, 403, 200]);
  for (const [, , text] of now) expect(text).not.toContain("Nora");
  await target.close();
});
