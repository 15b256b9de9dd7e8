/** TLS: the certificate and the ciphers that are accepted. */
import { afterAll, beforeAll, expect, test } from "bun:test";
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
