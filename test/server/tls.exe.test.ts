/** TLS: renewing the certificate on SIGHUP, and which ciphers are accepted. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { copyFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { type Listener, listen } from "../../src/server/listen.ts";
import { readTls } from "../../src/server/tls.ts";
import { openExecutable, run, temporaryFolder, until } from "../support.ts";

type Served = Awaited<ReturnType<typeof openExecutable>>;

interface Pair {
  cert: string;
  key: string;
}

/** Creates an RSA key pair, because TLS 1.2 has ciphers without forward secrecy for RSA. */
async function makePair(name: string): Promise<Pair> {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const kind = "req -x509 -newkey rsa:2048 -nodes -days 1".split(" ");
  const files = ["-subj", `/CN=${name}`, "-out", cert, "-keyout", key];
  expect((await run(["openssl", ...kind, ...files])).code).toBe(0);
  return { cert, key };
}

function dialTls({ origin }: Pick<Served, "origin">): Promise<TLSSocket> {
  const { hostname: host, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () =>
      resolve(socket),
    );
    socket.once("error", reject);
  });
}

/** Returns the common name of the certificate that a new connection gets. */
async function nameServed(target: Pick<Served, "origin">): Promise<string> {
  const socket = await dialTls(target);
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}

/** Sends a request. Returns the status line, or an empty string if the connection was closed. */
function ask(socket: TLSSocket, path: string): Promise<string> {
  return new Promise((resolve) => {
    socket.once("data", (chunk) => resolve(chunk.toString("latin1").split("\r\n")[0] ?? ""));
    socket.once("close", () => resolve(""));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`);
  });
}

let one: Pair;
let other: Pair;
let target: Served;
let pair: Pair;
let log = "";
beforeAll(async () => {
  [one, other] = await Promise.all([makePair("one.example"), makePair("other.example")]);
  const folder = temporaryFolder();
  pair = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  put(one);
  const flags = ["--tls-cert", pair.cert, "--tls-key", pair.key];
  target = await openExecutable(flags, (text) => {
    log += text;
  });
});
afterAll(() => target.close());

/** Replaces the server's certificate and key, as an ACME client does. */
function put({ cert, key }: Pair): void {
  for (const [from, to] of [
    [cert, pair.cert],
    [key, pair.key],
  ] as const) {
    copyFileSync(from, `${to}.new`);
    renameSync(`${to}.new`, to);
  }
}

/** Sends SIGHUP and waits until the server has logged `message`. */
async function hangUp(message: string): Promise<void> {
  log = "";
  process.kill(target.pid, "SIGHUP");
  await until(() => log.includes(message));
}

test("SIGHUP renews the certificate for new connections and interrupts no response", async () => {
  expect(await nameServed(target)).toBe("one.example");
  put(other);
  const whole = (await (await fetchOk("/docs/scalar.js")).arrayBuffer()).byteLength;
  const slow = await dialTls(target);
  let received = 0;
  const started = new Promise<void>((resolve) => {
    slow.on("data", (chunk) => {
      if (received === 0) slow.pause();
      received += chunk.length;
      resolve();
    });
  });
  const head = "GET /docs/scalar.js HTTP/1.1\r\nHost: a.example\r\nAccept-Encoding: gzip\r\n\r\n";
  slow.write(head.repeat(4));
  await started;
  await hangUp("using the new certificate");
  expect(await nameServed(target)).toBe("other.example");
  slow.resume();
  await until(() => received > 4 * whole);
  slow.destroy();
});

test("an invalid certificate is logged, and the old one stays in use", async () => {
  put(other);
  await hangUp("");
  writeFileSync(pair.key, "junk");
  await hangUp("does not contain an unencrypted PEM private key; using the old certificate");
  expect(await nameServed(target)).toBe("other.example");
  put({ cert: one.cert, key: other.key });
  await hangUp("does not match the certificate in");
  expect(await nameServed(target)).toBe("other.example");
  put(one);
  await hangUp("using the new certificate");
  expect(await nameServed(target)).toBe("one.example");
});

test("SIGHUP with an unchanged certificate closes no connection", async () => {
  const socket = await dialTls(target);
  expect(await ask(socket, "/health")).toBe("HTTP/1.1 200 OK");
  process.kill(target.pid, "SIGHUP");
  expect((await fetchOk()).status).toBe(200);
  expect(await ask(socket, "/health")).toBe("HTTP/1.1 200 OK");
  socket.destroy();
});

test.each([
  ["-tls1_3", "ALL", true],
  ["-tls1_2", "ECDHE-RSA-AES128-GCM-SHA256", true],
  ["-tls1_2", "ECDHE-RSA-CHACHA20-POLY1305", true],
  ["-tls1_2", "AES128-GCM-SHA256", false],
  ["-tls1_2", "AES128-SHA", false],
  ["-tls1_2", "ECDHE-RSA-AES128-SHA", false],
  ["-tls1_1", "ALL:@SECLEVEL=0", false],
])("%s with cipher %s: accepted is %p", async (version, cipher, isAccepted) => {
  const address = new URL(target.origin).host;
  const { stdout } = await run([
    "openssl",
    "s_client",
    "-connect",
    address,
    version,
    "-cipher",
    cipher,
  ]);
  expect([version, cipher, /Cipher is (?!\(NONE\))/.test(stdout)]).toEqual([
    version,
    cipher,
    isAccepted,
  ]);
});

describe("a listener in this process", () => {
  const address = { host: "127.0.0.1", port: 0 };
  const hello = () => new Response("hello");

  test("draining includes connections that use former certificates", async () => {
    const events: string[] = [];
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<Response>();
    const respond = () => {
      onAsked();
      return released;
    };
    const listener = listen(address, respond, readTls(one));
    const socket = await dialTls(listener);
    const response = ask(socket, "/");
    await asked;
    listener.renewTls(readTls(other));
    listener.renewTls(readTls(one));
    const drained = listener.drain().then(() => events.push("drained"));
    // Draining would end after a tenth of this time if it did not wait for the request.
    await Bun.sleep(1000);
    events.push("released");
    release(hello());
    await drained;
    expect(events).toEqual(["released", "drained"]);
    expect(await response).toBe("HTTP/1.1 200 OK");
    await listener.close();
  });

  test("keeps the old certificate if its address cannot be opened again", async () => {
    const listener = listen(address, hello, readTls(one));
    const { port } = new URL(listener.origin);
    const { serve } = Bun;
    const spy = spyOn(Bun, "serve").mockImplementation(((options: Parameters<typeof serve>[0]) => {
      if ("port" in options && String(options.port) === port)
        throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
      return serve(options);
    }) as typeof serve);
    expect(() => listener.renewTls(readTls(other))).toThrow(
      `cannot listen on 127.0.0.1 port ${port}: too many open files`,
    );
    spy.mockRestore();
    expect(await nameServed(listener)).toBe("one.example");
    listener.renewTls(readTls(other));
    expect(await nameServed(listener)).toBe("other.example");
    await listener.close();
  });

  test.each([false, true])("shares its port only if reusePort is set: %p", async (reusePort) => {
    const listener = listen({ ...address, reusePort }, hello, readTls(one));
    const port = Number(new URL(listener.origin).port);
    const again = (): Listener => listen({ ...address, port, reusePort }, hello, readTls(one));
    if (reusePort) await again().close();
    else expect(again).toThrow(`port ${port} on 127.0.0.1 is already in use`);
    await listener.close();
  });
});

async function fetchOk(path = "/health"): Promise<Response> {
  return fetch(target.origin + path, {
    headers: { "accept-encoding": "gzip" },
    keepalive: false,
    decompress: false,
    tls: { rejectUnauthorized: false },
  });
}
