/** TLS: the certificate, the ciphers that are accepted, and sharing a port. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openListener } from "../../src/server/listen.ts";
import { readTls } from "../../src/server/tls.ts";
import { openExecutable, run, temporaryFolder } from "../support.ts";

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

let one: Pair;
let target: Served;
beforeAll(async () => {
  one = await makePair("one.example");
  target = await openExecutable(["--tls-cert", one.cert, "--tls-key", one.key]);
});
afterAll(() => target.close());

test("a server with a certificate serves https", async () => {
  const response = await fetch(`${target.origin}/health`, { tls: { rejectUnauthorized: false } });
  expect([target.origin.slice(0, 8), response.status]).toEqual(["https://", 200]);
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

  test.each([false, true])("shares its port only if reusePort is set: %p", async (reusePort) => {
    const listener = await openListener({ ...address, reusePort }, hello, readTls(one));
    const port = Number(new URL(listener.origin).port);
    const again = () => openListener({ ...address, port, reusePort }, hello, readTls(one));
    if (reusePort) await (await again()).close();
    else await expect(again()).rejects.toThrow(`port ${port} on 127.0.0.1 is already in use`);
    await listener.close();
  });
});
