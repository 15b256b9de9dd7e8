/** Waiting as long as a 429 says is enough for programs that obey Retry-After by themselves. */
import { expect, test } from "bun:test";
import ky from "ky";
import { openExecutable, run, tryProgram } from "../support.ts";

const limit = ["--search-limit", "1", "--search-window", "2s"];

test("ky gets through at the second request", async () => {
  const target = await openExecutable(limit);
  const url = `${target.origin}/search/users?q=nowak`;
  const statuses: number[] = [];
  const client = ky.create({
    hooks: { afterResponse: [({ response }) => void statuses.push(response.status)] },
  });
  await client.get(url);
  expect((await client.get(url).json<{ success: boolean }>()).success).toBe(true);
  expect(statuses).toEqual([200, 429, 200]);
  await target.close();
});

test.if(tryProgram("curl"))("curl gets through at the second request", async () => {
  const target = await openExecutable(limit);
  const url = `${target.origin}/search/users?q=nowak`;
  const search = async () => {
    // With `-o /dev/null`, curl 7.88.1 does not retry, because it cannot truncate that.
    const words = ["-si", "--retry", "1"];
    const { stdout } = await run(["curl", ...words, url]);
    return Array.from(stdout.matchAll(/HTTP\/1.1 (\d+)/g), ([, status]) => status);
  };
  expect(await search()).toEqual(["200"]);
  expect(await search()).toEqual(["429", "200"]);
  await target.close();
});
