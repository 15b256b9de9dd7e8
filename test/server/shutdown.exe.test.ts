/** Stopping under load: nothing that was taken in is lost, and nobody idle holds it up. */
import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import { closed, converse, dial, parseAnswers, readAll } from "../sockets.ts";
import { executable, openExecutable, readyOrigin, until } from "../support.ts";

const request = "GET /users/public/42 HTTP/1.1\r\nHost: a.example\r\n\r\n";

/** Waits for one whole answer; undefined when the connection closes before it is whole. */
function nextAnswer(socket: Socket): Promise<{ text: string; isLast: boolean } | undefined> {
  let received = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const [answer] = parseAnswers(received).answers;
      if (!answer) return;
      socket.off("data", onData);
      socket.off("close", onClose);
      resolve({
        text: `${answer.status} ${answer.body}`,
        isLast: /^connection: close$/m.test(answer.head),
      });
    };
    const onClose = () =>
      received.length > 0
        ? reject(new Error(`cut off: ${received.toString("latin1")}`))
        : resolve(undefined);
    socket.on("data", onData);
    socket.on("close", onClose);
  });
}

async function dialAll(target: { origin: string }, count: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: count }, () => dial(target)));
}

test("requests sent before SIGTERM under load are answered, and later ones whole or not at all", async () => {
  for (let round = 0; round < 3; round++) {
    const target = await openExecutable([]);
    const profile = await (await target.fetch("/users/public/42")).text();
    const right = `200 ${profile.replaceAll(target.origin, "http://a.example")}`;
    const answers = new Set<string>();
    let isSignalled = false;
    let answered = 0;
    let lost = 0;

    const ask = async (socket: Socket) => {
      const wasSignalled = isSignalled;
      socket.write(request);
      const answer = await nextAnswer(socket);
      if (answer) {
        answered++;
        answers.add(answer.text);
      } else if (!wasSignalled) lost++;
      return answer !== undefined && !answer.isLast;
    };
    const stay = async () => {
      const socket = await dial(target);
      while (await ask(socket));
      socket.destroy();
    };
    const comeAndGo = async () => {
      for (;;) {
        const socket = await dial(target).catch(() => undefined);
        if (!socket) return;
        await ask(socket);
        socket.destroy();
      }
    };

    const clients = [...Array.from({ length: 32 }, stay), ...Array.from({ length: 8 }, comeAndGo)];
    await until(() => answered >= 500);
    const stopped = target.close();
    isSignalled = true;
    await Promise.all([stopped, ...clients]);
    expect([[...answers], lost]).toEqual([[right], 0]);
  }
}, 60_000);

test("what waits unread in the system at SIGTERM is answered, on new connections and on kept ones", async () => {
  const target = await openExecutable([]);
  const kept = await dialAll(target, 50);
  for (const socket of kept) {
    socket.write(request);
    await nextAnswer(socket);
  }
  process.kill(target.pid, "SIGSTOP");
  const sockets = [...kept, ...(await dialAll(target, 50))];
  const received = sockets.map(readAll);
  for (const socket of sockets) socket.write(request);
  const stopped = target.close();
  process.kill(target.pid, "SIGCONT");
  for (const { answers, rest } of await Promise.all(received)) {
    expect([answers.map(({ status }) => status), rest]).toEqual([[200], ""]);
  }
  await stopped;
}, 60_000);

test("idle connections and half-sent requests are closed, and the stop waits for neither", async () => {
  const target = await openExecutable(["--shutdown-timeout", "1h"]);
  const idle = await dialAll(target, 600);
  for (const socket of idle) socket.write(request);
  await Promise.all(idle.map(nextAnswer));
  const untouched = await dial(target);
  const halfHead = await dial(target);
  halfHead.write(request.slice(0, 30));
  const halfOfSecond = await dial(target);
  halfOfSecond.write(request + request.slice(0, 30));
  expect(await nextAnswer(halfOfSecond)).toMatchObject({ isLast: false });
  await target.fetch("/health");

  const stopped = target.close();
  await Promise.all([...idle, halfHead, halfOfSecond].map(closed));
  await stopped;
  // Linux has not handed over a connection on which nothing came, so nobody closes it.
  untouched.destroy();
}, 60_000);

test("half a body is not waited for either: its head was enough for a response", async () => {
  const target = await openExecutable(["--shutdown-timeout", "1h"]);
  const half = await dial(target);
  half.write("POST /users/public/42 HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1000\r\n\r\nx");
  expect((await nextAnswer(half))?.text).toStartWith("405 ");
  const stopped = target.close();
  await Promise.all([closed(half), stopped]);
}, 60_000);

test("answers that a slow client has yet to read are sent to their end", async () => {
  const target = await openExecutable([]);
  // One request a connection: Bun cuts off clients that pipeline and do not read, also without a stop.
  const ask = "GET /docs/scalar.js HTTP/1.1\r\nHost: a.example\r\n";
  const { answers: whole } = await converse(target, `${ask}Connection: close\r\n\r\n`);
  const slow = await dialAll(target, 8);
  for (const socket of slow) {
    socket.pause();
    socket.write(`${ask}\r\n`);
  }
  for (let times = 0; times < 20; times++) await target.fetch("/health");

  const stopped = target.close();
  // Long enough for a stop that does not wait for them to cut them off.
  await Bun.sleep(500);
  for (const { answers, rest } of await Promise.all(slow.map(readAll))) {
    expect(rest).toBe("");
    expect(answers.map(({ bytes }) => whole[0]?.bytes.equals(bytes))).toEqual([true]);
  }
  await stopped;
}, 60_000);

test("under a storm of new connections the stop is within the grace, and resets none that was open", async () => {
  const graceMs = 20_000;
  const target = await openExecutable(["--shutdown-timeout", `${graceMs}ms`]);
  const storm = Bun.spawn(
    [process.execPath, `${import.meta.dir}/../storm.ts`, target.origin, "50"],
    {
      stdout: "pipe",
    },
  );
  const output = storm.stdout.getReader();
  const line = async () =>
    Buffer.from((await output.read()).value ?? [])
      .toString()
      .trim();
  expect(await line()).toBe("under way");
  const before = performance.now();
  const stopped = target.close();
  storm.kill("SIGUSR1");
  await stopped;
  expect(performance.now() - before).toBeLessThan(graceMs);
  const { responses, lost } = JSON.parse(await line());
  expect(responses).toBeGreaterThan(500);
  expect(lost).toBe(0);
  await storm.exited;
}, 60_000);

test("a SIGHUP during the start ends nothing", async () => {
  const asked = Promise.withResolvers<void>();
  const silentStore = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: () => asked.resolve() },
  });
  const child = Bun.spawn(
    [
      await executable(),
      ...["--port", "0", "--rate-limit-store", `redis://127.0.0.1:${silentStore.port}`],
    ],
    { env: {}, stdout: "pipe", stderr: "ignore" },
  );
  await asked.promise;
  child.kill("SIGHUP");
  const origin = await readyOrigin(child.stdout);
  expect((await fetch(`${origin}/health`)).status).toBe(200);
  child.kill();
  expect(await child.exited).toBe(0);
  silentStore.stop(true);
});
