/**
 * Shutdown under load: no accepted request is lost, and idle clients do not delay the exit. A start
 * that fails leaves nothing open.
 */
import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import { makeLarge } from "../datasets.ts";
import { closed, dial, dialMany, exchange, parseResponses, readAll } from "../sockets.ts";
import {
  executable,
  openExecutable,
  readyOrigin,
  root,
  run,
  temporaryFolder,
  until,
} from "../support.ts";

const request = "GET /users/public/42 HTTP/1.1\r\nHost: a.example\r\n\r\n";

/** Waits for a complete response. Returns undefined if the connection closes without a response. */
function nextResponse(socket: Socket): Promise<{ text: string; isLast: boolean } | undefined> {
  let received = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const [response] = parseResponses(received).responses;
      if (!response) return;
      socket.off("data", onData).off("close", onClose);
      const { status, body, head } = response;
      resolve({ text: `${status} ${body}`, isLast: /^connection: close$/m.test(head) });
    };
    const onClose = () => {
      if (received.length === 0) resolve(undefined);
      else reject(new Error(`cut off: ${received.toString("latin1")}`));
    };
    socket.on("data", onData).on("close", onClose);
  });
}

test("under load, requests sent before SIGTERM get a response, and new ones delay nothing", async () => {
  const target = await openExecutable(["--shutdown-timeout", "1h"]);
  const profile = await (await target.fetch("/users/public/42")).text();
  const right = `200 ${profile.replaceAll(target.origin, "http://a.example")}`;
  const responses = new Set<string>();
  let isSignalled = false;
  let received = 0;
  let lost = 0;

  /** Sends requests over one connection. Returns false once connecting fails. */
  async function converse(isStaying: boolean): Promise<boolean> {
    const socket = await dial(target).catch(() => undefined);
    let isOpen = true;
    while (socket && isOpen) {
      const wasSignalled = isSignalled;
      socket.write(request);
      const response = await nextResponse(socket);
      if (response) {
        received++;
        responses.add(response.text);
      } else if (!wasSignalled) lost++;
      isOpen = isStaying && response !== undefined && !response.isLast;
    }
    socket?.destroy();
    return socket !== undefined;
  }
  const comeAndGo = async () => {
    while (await converse(false));
  };
  const clients = Array.from({ length: 40 }, (_, at) => (at < 24 ? converse(true) : comeAndGo()));
  await until(() => received >= 500);
  const stopped = target.close();
  isSignalled = true;
  await Promise.all([stopped, ...clients]);
  expect([[...responses], lost]).toEqual([[right], 0]);
});

test("requests not yet read at SIGTERM get a response, on both new and open connections", async () => {
  const target = await openExecutable(["--trusted-proxy", "127.0.0.1"]);
  // More than the server reads in one tick, and each from a client of its own.
  const open = await dialMany(target, 1200);
  const requestOf = (at: number) =>
    request.replace("\r\n\r\n", `\r\nX-Forwarded-For: 2001:db8:0:${at.toString(16)}::1\r\n\r\n`);
  const answered = open.map(nextResponse);
  for (const [at, socket] of open.entries()) socket.write(requestOf(at));
  await Promise.all(answered);
  process.kill(target.pid, "SIGSTOP");
  const sockets = [...open, ...(await dialMany(target, 50))];
  const received = sockets.map(readAll);
  for (const [at, socket] of sockets.entries()) socket.write(requestOf(at));
  const stopped = target.close();
  process.kill(target.pid, "SIGCONT");
  for (const { responses, rest } of await Promise.all(received)) {
    expect([responses.map(({ status }) => status), rest]).toEqual([[200], ""]);
  }
  await stopped;
});

test("idle connections and incomplete heads or bodies do not delay the shutdown", async () => {
  const target = await openExecutable(["--shutdown-timeout", "1h"]);
  const idle = await dialMany(target, 100);
  for (const socket of idle) socket.write(request);
  await Promise.all(idle.map(nextResponse));
  const untouched = await dial(target);
  const halfHead = await dial(target);
  halfHead.write(request.slice(0, 30));
  const halfOfSecond = await dial(target);
  halfOfSecond.write(request + request.slice(0, 30));
  expect(await nextResponse(halfOfSecond)).toMatchObject({ isLast: false });
  const halfBody = await dial(target);
  halfBody.write(
    "POST /users/public/42 HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1000\r\n\r\nx",
  );
  expect((await nextResponse(halfBody))?.text).toStartWith("405 ");
  await target.fetch("/health");

  const stopped = target.close();
  await Promise.all([...idle, halfHead, halfOfSecond, halfBody].map(closed));
  await stopped;
  // Linux passes on a connection only after its first byte, so the server cannot close this one.
  untouched.destroy();
});

test("slow clients get complete responses", async () => {
  const target = await openExecutable([]);
  // Sends one request per connection, because Bun cuts off clients that pipeline without reading.
  const ask = "GET /docs/scalar.js HTTP/1.1\r\nHost: a.example\r\n";
  const { responses: whole } = await exchange(target, `${ask}Connection: close\r\n\r\n`);
  const slow = await dialMany(target, 8);
  for (const socket of slow) {
    socket.pause();
    socket.write(`${ask}\r\n`);
  }
  for (let times = 0; times < 20; times++) await target.fetch("/health");

  const stopped = target.close();
  // A shutdown that does not wait would cut off slow clients within this time.
  await Bun.sleep(500);
  for (const { responses, rest } of await Promise.all(slow.map(readAll))) {
    expect(rest).toBe("");
    expect(responses.map(({ bytes }) => whole[0]?.bytes.equals(bytes))).toEqual([true]);
  }
  await stopped;
});

test("a SIGHUP during startup does not end the server", async () => {
  const asked = Promise.withResolvers<void>();
  const socket = { data: () => asked.resolve() };
  const silentStore = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
  const store = `redis://127.0.0.1:${silentStore.port}`;
  const command = [await executable(), "--port", "0", "--rate-limit-store", store];
  const child = Bun.spawn(command, { env: {}, stdout: "pipe", stderr: "ignore" });
  await asked.promise;
  child.kill("SIGHUP");
  silentStore.stop(true);
  const origin = await readyOrigin(child.stdout);
  expect((await fetch(`${origin}/health`)).status).toBe(200);
  child.kill();
  expect(await child.exited).toBe(0);
});

test("a start that fails closes what it has opened", async () => {
  const snapshot = Bun.file(await makeLarge());
  await using source = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(snapshot),
  });
  const cache = temporaryFolder();
  const words = ["--snapshot", `${source.url}a.snapshot`, "--cache-dir", cache];
  const ports = ["--admin-port", "0", "--port", String(source.port)];
  // Ends only if nothing is running any more, because no exit ends it.
  const program = `
    import { readdirSync, readlinkSync } from "node:fs";
    import { runCommandLine } from "./src/commands/command-line.ts";
    const [cache, ...args] = process.argv.slice(1);
    const listOpen = () =>
      readdirSync("/proc/self/fd").flatMap((name) => {
        try {
          return readlinkSync("/proc/self/fd/" + name);
        } catch {
          return [];
        }
      });
    await runCommandLine(args).catch(({ message }) => console.log(message));
    const open = process.platform === "linux" ? listOpen() : [];
    console.log(open.filter((path) => path.startsWith(cache)).join());`;
  const command = [process.execPath, "-e", program, cache, ...words, ...ports];
  expect(await run(command, { cwd: root })).toMatchObject({
    code: 0,
    stdout: `port ${source.port} on 127.0.0.1 is already in use; choose another with --port\n\n`,
  });
});
