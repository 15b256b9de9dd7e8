/** TLS: the certificate, its renewal, and the ciphers that are accepted. */
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:tls";
import { openListener } from "../../src/server/listen.ts";
import { lastRequest } from "../sockets.ts";
import { makeCertificate, openLogged, run, until } from "../support.ts";

let target: Awaited<ReturnType<typeof openLogged>>;
beforeAll(async () => {
  // RSA, because only for RSA, TLS 1.2 has ciphers without forward secrecy.
  const { cert, key } = await makeCertificate("IP:127.0.0.1", "rsa:2048");
  target = await openLogged(["--tls-cert", cert, "--tls-key", key]);
});
afterAll(() => target.close());

test("a server with a certificate serves https", async () => {
  expect(target.origin).toStartWith("https://");
  const response = await fetch(`${target.origin}/health`, { tls: { rejectUnauthorized: false } });
  expect(response.status).toBe(200);
});

test("a certificate that expires within 14 days is a warning at the start", async () => {
  await until(() =>
    /"level":"warn".*the TLS certificate expires on \d{4}-\d\d-\d\dT/.test(target.log()),
  );
});

test("if the port is in use, no server behind it is left open", async () => {
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const files = await makeCertificate("IP:127.0.0.1");
  const tls = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
  using serve = spyOn(Bun, "serve");
  const options = { host: "127.0.0.1", port: taken.port };
  const opening = openListener(options, () => new Response(), tls);
  await expect(opening).rejects.toThrow(`port ${taken.port} on 127.0.0.1 is already in use`);
  expect(serve).not.toHaveBeenCalled();
});

test.each([
  ["-tls1_3", "ALL", true],
  ["-tls1_2", "ECDHE-RSA-AES128-GCM-SHA256", true],
  ["-tls1_2", "AES128-GCM-SHA256", false],
  ["-tls1_2", "ECDHE-RSA-AES128-SHA", false],
  ["-tls1_1", "ALL:@SECLEVEL=0", false],
])("%s with cipher %s: accepted is %p", async (version, cipher, isAccepted) => {
  const { host } = new URL(target.origin);
  const words = ["s_client", "-connect", host, version, "-cipher", cipher];
  const { stdout } = await run(["openssl", ...words]);
  expect(/Cipher is (?!\(NONE\))/.test(stdout)).toBe(isAccepted);
});

/** Opens a connection, which stays open between its requests. */
async function openConnection(origin: string) {
  const { hostname: host, port } = new URL(origin);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, resolve);
  socket.once("error", reject);
  await promise;
  return {
    fingerprint: socket.getPeerCertificate().fingerprint256,
    async ask(request = "GET /health HTTP/1.1\r\nhost: a.example\r\n\r\n") {
      const received = new Promise((resolve, reject) => {
        socket.once("data", resolve);
        socket.once("close", () => reject(new Error("closed without a response")));
      });
      socket.write(request);
      return String(await received);
    },
    close: () => socket.destroy(),
  };
}

const fingerprintOf = (path: string) => new X509Certificate(readFileSync(path)).fingerprint256;

test("a renewed certificate is served to new connections, and no connection ends", async () => {
  const [files, renewed] = await Promise.all([
    makeCertificate("IP:127.0.0.1"),
    makeCertificate("IP:127.0.0.1"),
  ]);
  const before = fingerprintOf(files.cert);
  const after = fingerprintOf(renewed.cert);
  const original = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
  const flags = ["--tls-cert", files.cert, "--tls-key", files.key, "--admin-port", "0"];
  const server = await openLogged([...flags, "--idle-timeout", "255s"]);
  const kept = await openConnection(server.origin);
  expect(kept.fingerprint).toBe(before);
  const fingerprint = async () => {
    const connection = await openConnection(server.origin);
    expect(await connection.ask(lastRequest)).toStartWith("HTTP/1.1 200 ");
    connection.close();
    return connection.fingerprint;
  };

  copyFileSync(renewed.cert, files.cert);
  copyFileSync(renewed.key, files.key);
  await until(async () => (await fingerprint()) === after);
  expect(await kept.ask()).toStartWith("HTTP/1.1 200 ");

  // The certificate and the key do not belong together.
  const countRefused = () => server.log().split("serving the old certificate").length - 1;
  writeFileSync(files.cert, original.cert);
  await until(() => countRefused() > 0);
  const refused = countRefused();
  process.kill(server.pid, "SIGHUP");
  await until(() => countRefused() > refused);
  expect(await fingerprint()).toBe(after);

  rmSync(files.key);
  await until(() => server.log().includes(`cannot read ${files.key}: no such file or directory`));

  writeFileSync(files.key, original.key);
  await until(async () => (await fingerprint()) === before);
  expect(await kept.ask()).toStartWith("HTTP/1.1 200 ");
  kept.close();
  await server.close();
});

test("with TLS, a shutdown completes the requests that have begun", async () => {
  const { cert, key } = await makeCertificate("IP:127.0.0.1");
  const flags = ["--tls-cert", cert, "--tls-key", key, "--fault", "health:delay=500ms"];
  const server = await openLogged(flags);
  const connections = await Promise.all(
    Array.from({ length: 30 }, () => openConnection(server.origin)),
  );
  const responses = Promise.all(connections.map((connection) => connection.ask()));
  const closed = server.close();
  await until(() => server.log().includes("stopping"));
  for (const response of await responses) expect(response).toStartWith("HTTP/1.1 200 ");
  for (const connection of connections) connection.close();
  await closed;
});

test("with TLS, searches count for the address of each client", async () => {
  const { cert, key } = await makeCertificate("IP:127.0.0.1");
  const server = await openLogged(["--tls-cert", cert, "--tls-key", key, "--search-limit", "1"]);
  const search = async (address: string) => {
    const words = ["-sk", "--interface", address, "-w", "%{http_code}", "-o", "/dev/null"];
    return (await run(["curl", ...words, `${server.origin}/search/users?q=no`])).stdout;
  };
  const statuses = [];
  for (const address of ["127.0.0.2", "127.0.0.2", "127.0.0.3"])
    statuses.push(await search(address));
  expect(statuses).toEqual(["200", "429", "200"]);
  await server.close();
});

test("Strict-Transport-Security is sent only with TLS and an https public URL", async () => {
  const { cert, key } = await makeCertificate("IP:127.0.0.1");
  const tls = ["--tls-cert", cert, "--tls-key", key];
  const rows: [string[], string | null][] = [
    [[...tls, "--public-url", "https://drivers.example"], "max-age=31536000"],
    [tls, null],
    [["--public-url", "https://drivers.example"], null],
  ];
  for (const [flags, expected] of rows) {
    const server = await openLogged(flags);
    for (const path of ["/", "/health", "/users/public/42", "/nope"]) {
      const { headers } = await fetch(server.origin + path, { tls: { rejectUnauthorized: false } });
      expect([path, headers.get("strict-transport-security")]).toEqual([path, expected]);
    }
    await server.close();
  }
});
