/** Servers that download their snapshot over https and through redirects. */
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeSnapshot } from "../../datasets.ts";
import { openExecutable, run, temporaryFolder } from "../../support.ts";

describe("a redirect", async () => {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  await run([
    "openssl",
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    ...subject,
    "-keyout",
    key,
    "-out",
    cert,
  ]);
  const snapshot = readFileSync(await makeSnapshot());
  const requested: string[] = [];
  /** Redirect targets by path, on both servers. All other paths respond with the snapshot. */
  const redirects: Record<string, string> = {};
  const respond = (request: Request) => {
    const { protocol, pathname } = new URL(request.url);
    requested.push(protocol + pathname);
    const location = redirects[pathname];
    if (location) return new Response(null, { status: 302, headers: { location } });
    return new Response(new Uint8Array(snapshot));
  };
  const tls = { cert: readFileSync(cert), key: readFileSync(key) };
  const [secure, plain] = [
    Bun.serve({ port: 0, hostname: "localhost", tls, fetch: respond }),
    Bun.serve({ port: 0, hostname: "localhost", fetch: respond }),
  ];
  afterAll(() => Promise.all([secure.stop(true), plain.stop(true)]));
  const https = `https://localhost:${secure.port}`;
  const http = `http://localhost:${plain.port}`;
  redirects["/up"] = `${https}/snapshot`;
  redirects["/aside"] = "/snapshot";
  const env = { NODE_EXTRA_CA_CERTS: cert, TMPDIR: folder };

  test.each([
    [`${http}/up`, ["http:/up", "https:/snapshot"]],
    [`${https}/aside`, ["https:/aside", "https:/snapshot"]],
  ])("is followed if it keeps the scheme or upgrades it to https: %s", async (url, expected) => {
    requested.length = 0;
    const server = await openExecutable(["--snapshot", url, "--refresh", "1h"], undefined, env);
    await server.close();
    expect(requested).toEqual(expected);
  });
});
