/** TLS: the certificate, the ciphers that are accepted, and sharing a port. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openListener } from "../../src/server/listen.ts";
import { readTls, type TlsFiles } from "../../src/server/tls.ts";
import { openExecutable, run, type Target, temporaryFolder } from "../support.ts";

const hello = () => new Response("hello");
let tls: TlsFiles;
let target: Target;
beforeAll(async () => {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  // RSA, because only for RSA, TLS 1.2 has ciphers without forward secrecy.
  const words = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=one.example".split(" ");
  expect((await run(["openssl", ...words, "-out", cert, "-keyout", key])).code).toBe(0);
  tls = readTls({ cert, key });
  target = await openExecutable(["--tls-cert", cert, "--tls-key", key]);
});
afterAll(() => target.close());

test("a server with a certificate serves https", async () => {
  expect(target.origin).toStartWith("https://");
  const response = await fetch(`${target.origin}/health`, { tls: { rejectUnauthorized: false } });
  expect(response.status).toBe(200);
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

test.each([false, true])("a port is shared only if reusePort is set: %p", async (reusePort) => {
  const address = { host: "127.0.0.1", port: 0, reusePort };
  const first = await openListener(address, hello, tls);
  const port = Number(new URL(first.origin).port);
  const again = () => openListener({ ...address, port }, hello, tls);
  if (reusePort) await (await again()).close();
  else await expect(again()).rejects.toThrow(`port ${port} on 127.0.0.1 is already in use`);
  await first.close();
});
