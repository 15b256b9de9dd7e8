/** When the executable closes connections, and how it says so. */
import { expect, test } from "bun:test";
import { closed, converse, dial, exchange } from "../sockets.ts";
import { openExecutable, roadbook } from "../support.ts";

test("an idle connection is closed after --idle-timeout", async () => {
  const short = await openExecutable(["--idle-timeout", "1s"]);
  const long = await openExecutable(["--idle-timeout", "255s"]);
  const kept = await dial(long);
  let isKept = true;
  const keptEnd = closed(kept).then(() => {
    isKept = false;
  });
  // Returns when the server closes the connection.
  const request = "GET /health HTTP/1.1\r\nHost: a.example\r\n\r\n";
  const { responses } = await exchange(short, request);
  expect(responses.map(({ status }) => status)).toEqual([200]);
  expect(isKept).toBe(true);
  kept.destroy();
  await keptEnd;
  await short.close();
  await long.close();
});

test("--idle-timeout takes 1 to 255 seconds", async () => {
  for (const wrong of ["0", "999ms", "256s", "5m", "no"]) {
    const { code, stderr } = await roadbook(["serve", "--idle-timeout", wrong]);
    expect([wrong, code, stderr]).toEqual([
      wrong,
      2,
      expect.stringContaining("must be a duration from 1s to 255s, such as 75s"),
    ]);
  }
});

test("a response after which the server closes the connection says so", async () => {
  const target = await openExecutable([]);
  for (const [value, closes] of [
    ["close", true],
    ["Close", true],
    ["keep-alive, close", true],
    ["keep-alive", false],
    ["x-close-notify", false],
  ] as const) {
    for (const path of ["/users/public/42", "/", "/nope"]) {
      const request = `GET ${path} HTTP/1.1\r\nHost: a.example\r\nConnection: ${value}\r\n\r\n`;
      const last = `GET /health HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`;
      const { responses } = await exchange(target, request, ...(closes ? [] : [last]));
      const [head = ""] = responses.map((response) => response.head);
      expect([value, path, /^connection: close$/m.test(head)]).toEqual([value, path, closes]);
      expect(responses).toHaveLength(closes ? 1 : 2);
    }
  }
  const head = await converse(
    target,
    "HEAD /health HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n",
  );
  expect(head.rest + head.responses.map((response) => response.head).join()).toMatch(
    /^connection: close$/im,
  );
  await target.close();
});
