/** Servers that download their snapshot: concurrent starts, killed servers and redirects. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeLarge, makeSnapshot } from "../../datasets.ts";
import {
  executable,
  openExecutable,
  readyOrigin,
  roadbook,
  run,
  temporaryFolder,
} from "../../support.ts";

describe("with a snapshot at a URL", async () => {
  let bytes: Uint8Array;
  const source = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (request.headers.get("if-none-match")) return new Response(null, { status: 304 });
      return new Response(new Uint8Array(bytes), { headers: { etag: '"one"' } });
    },
  });
  afterAll(() => source.stop(true));
  beforeAll(async () => {
    bytes = readFileSync(await makeLarge());
  });
  const url = `${source.url.origin}/x.snapshot`;

  test("servers that share an empty cache can start at the same time", async () => {
    const cacheDir = join(temporaryFolder(), "cache");
    let log = "";
    const words = ["--snapshot", url, "--cache-dir", cacheDir, "--refresh", "100ms"];
    const servers = await Promise.all(
      Array.from({ length: 6 }, () =>
        openExecutable(words, (text) => {
          log += text;
        }),
      ),
    );
    let received = 0;
    for (const server of servers) {
      const health = await (await server.fetch("/health")).json();
      expect(health.snapshot_source.error).toBeNull();
      received += health.snapshot_source.bytes;
    }
    expect(received).toBe(bytes.length);
    await Promise.all(servers.map((server) => server.close()));
    expect(log).not.toContain("serving the old snapshot");
    const isCacheFile = /\.snapshot(\.etag|\.lock)?$/;
    expect(readdirSync(cacheDir).filter((name) => !isCacheFile.test(name))).toEqual([]);
  }, 60_000);

  test("a starting server removes only the temporary folders of killed servers", async () => {
    const TMPDIR = temporaryFolder();
    const start = async () => {
      const words = ["serve", "--port", "0", "--snapshot", url, "--log-level", "silent"];
      const child = Bun.spawn([await executable(), ...words], { env: { TMPDIR }, stdout: "pipe" });
      return { child, origin: await readyOrigin(child.stdout) };
    };
    const running = await start();
    const folders = () => readdirSync(TMPDIR).map((name) => join(TMPDIR, name));
    const [kept = ""] = folders();
    const killed = await Promise.all([start(), start(), start()]);
    expect(folders()).toHaveLength(4);
    for (const { child } of killed) child.kill("SIGKILL");
    await Promise.all(killed.map(({ child }) => child.exited));
    expect(folders().filter((folder) => readdirSync(folder).length > 1)).toHaveLength(4);
    const next = await Promise.all([start(), start()]);
    expect(folders()).toHaveLength(3);
    expect(existsSync(kept)).toBe(true);
    for (const { child, origin } of [running, ...next]) {
      expect((await fetch(`${origin}/users/public/1`)).status).not.toBe(500);
      child.kill();
      expect(await child.exited).toBe(0);
    }
    expect(folders()).toEqual([]);
  }, 60_000);
});

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
  redirects["/down"] = `${http}/plain`;
  redirects["/downAndUp"] = `${http}/up`;
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

  test.each(["down", "downAndUp"])("is not followed from https to http: /%s", async (path) => {
    requested.length = 0;
    const words = ["serve", "--port", "0", "--snapshot", `${https}/${path}`];
    const { code, stderr } = await roadbook(words, { env });
    expect([code, stderr]).toEqual([
      1,
      `roadbook: ${https}/${path} redirects from https to http\n`,
    ]);
    expect(requested).toEqual([`https:/${path}`]);
  });
});
