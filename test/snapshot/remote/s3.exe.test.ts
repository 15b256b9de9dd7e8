/** Commands that read or write a snapshot, tested with a real S3-compatible store. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { community, makeFile, makeSnapshot, succeed, user } from "../../datasets.ts";
import {
  executable,
  type Outcome,
  openExecutable,
  readyOrigin,
  roadbook,
  temporaryFolder,
  until,
} from "../../support.ts";
import { openS3Server, type S3Server } from "./s3-server.ts";

let store: S3Server;
beforeAll(async () => {
  store = await openS3Server();
}, 60_000);
afterAll(() => store.kill());

/** Runs the executable with the store's address and credentials. */
function run(...words: string[]): Promise<Outcome> {
  return roadbook(words, { env: { ...store.env, TMPDIR: temporaryFolder() } });
}

/** Exports the dataset from a snapshot in the store. */
async function exportObject(key: string): Promise<string> {
  const path = join(temporaryFolder(), "copy");
  writeFileSync(path, Bun.zstdDecompressSync(zstd(await store.get(key))));
  return succeed(["export", path]);
}

function zstd(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0x28 ? bytes : Bun.zstdCompressSync(bytes);
}

test.each(["a.snapshot", "deep/er/ä b.snapshot", "c.snapshot.zst"])(
  "the object %s can be written by import, changed by apply and then served",
  async (key) => {
    const to = store.url(key);
    expect(await run("import", makeFile(community), "--to", to)).toEqual({
      code: 0,
      stderr: "",
      stdout: `imported 3 users (2 public), 2 companies, 1 achievement, 2 roles to ${to}\n`,
    });
    const server = await openExecutable(
      ["--snapshot", to, "--refresh", "100ms"],
      undefined,
      store.env,
    );
    expect((await server.fetch("/users/public/44")).status).toBe(200);
    const changes = makeFile([{ type: "user", id: 44, public: false }]);
    expect(await run("apply", changes, "--to", to)).toMatchObject({ code: 0, stderr: "" });
    expect(await exportObject(key)).toContain('{"type":"user","id":44,"public":false}');
    await until(async () => (await server.fetch("/users/public/44")).status === 403);
    const { snapshot_source } = await (await server.fetch("/health")).json();
    expect(snapshot_source).toMatchObject({ url: to, error: null });
    await server.close();
  },
  60_000,
);

test("SIGHUP makes the server check the store immediately", async () => {
  const to = store.url("sighup.snapshot");
  expect((await run("import", makeFile(community), "--to", to)).code).toBe(0);
  const words = ["--snapshot", to, "--refresh", "1h"];
  const server = await openExecutable(words, undefined, store.env);
  const changes = makeFile([{ type: "user", id: 44, public: false }]);
  expect((await run("apply", changes, "--to", to)).code).toBe(0);
  expect((await server.fetch("/users/public/44")).status).toBe(200);
  process.kill(server.pid, "SIGHUP");
  await until(async () => (await server.fetch("/users/public/44")).status === 403);
  await server.close();
}, 60_000);

test("import and apply can write a compressed snapshot file, but check rejects it", async () => {
  const to = join(temporaryFolder(), "x.snapshot.zst");
  expect((await run("import", makeFile(community), "--to", to)).code).toBe(0);
  expect(await run("apply", makeFile([user(45, "Anna")]), "--to", to)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`: ${to} now has 4 users`),
  });
  expect(await run("check", to)).toMatchObject({
    code: 1,
    stderr: `roadbook: ${to} is compressed; decompress it with zstd -d, or serve it from a URL\n`,
  });
  const { code, stderr } = await run("import", makeFile([user(1, "One")]), "--to", to);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${to} would lose 3 of its 4 users`)]);
});

test("an import that would remove most users from an object is an error", async () => {
  const to = store.url("guarded.snapshot");
  const many = Array.from({ length: 10 }, (_, at) => user(at + 1, `Driver ${at}`));
  expect((await run("import", makeFile(many), "--to", to)).code).toBe(0);
  const { code, stderr } = await run("import", makeFile(many.slice(0, 4)), "--to", to);
  expect([code, stderr]).toEqual([
    1,
    `roadbook: ${to} would lose 6 of its 10 users; nothing was written (to remove more than half, add --allow-shrink)\n`,
  ]);
});

test("a store without conditional writes needs --unconditional", async () => {
  let written = 0;
  const plain = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch({ method, headers, body }) {
      if (method !== "PUT") return new Response("", { status: 404 });
      const { length } = await new Response(body).bytes();
      if (headers.has("if-none-match")) return new Response("", { status: 501 });
      written = length;
      return new Response("");
    },
  });
  const env = { ...store.env, AWS_ENDPOINT_URL: plain.url.origin, TMPDIR: temporaryFolder() };
  const words = ["import", makeFile(community), "--to", "s3://community/x.snapshot"];
  const { code, stderr } = await roadbook(words, { env });
  expect([code, stderr, written]).toEqual([
    1,
    "roadbook: s3://community/x.snapshot is in a store without conditional writes (If-Match), so two commands at once could lose a change; write from one machine only, with --unconditional\n",
    0,
  ]);
  expect(await roadbook([...words, "--unconditional"], { env })).toMatchObject({ code: 0 });
  expect(written).toBeGreaterThan(0);
  await plain.stop(true);
});

test("apply to an object that does not exist is an error", async () => {
  const to = store.url("none.snapshot");
  const { code, stderr } = await run("apply", makeFile([user(1, "Anna")]), "--to", to);
  expect([code, stderr]).toEqual([
    1,
    `roadbook: ${to} cannot be read: no such file or directory\n`,
  ]);
});

test("no message, log line or response contains a secret", async () => {
  await store.put("s.snapshot", readFileSync(await makeSnapshot()));
  let log = "";
  const collect = (text: string) => {
    log += text;
  };
  const env = { ...store.env, AWS_ACCESS_KEY_ID: "wr0ng-key", AWS_SESSION_TOKEN: "t0ken" };
  const words = ["--snapshot", store.url("s.snapshot"), "--refresh", "50ms", "--admin-port", "0"];
  const failed = await roadbook(["serve", "--port", "0", ...words], { env });
  expect(failed).toMatchObject({ code: 1, stdout: "" });
  expect(failed.stderr).toEndWith(`roadbook: ${store.url("s.snapshot")} responded with 403\n`);
  const server = await openExecutable(words, collect, store.env);
  await store.put("s.snapshot", Buffer.from("nonsense"));
  await until(() => log.includes("is not a Roadbook snapshot; serving the old snapshot"));
  const health = await (await server.fetch("/health")).text();
  expect(JSON.parse(health)).toMatchObject({
    snapshot_source: { error: "is not a Roadbook snapshot" },
  });
  const admin = /admin listening on ([^"]+)/.exec(log)?.[1];
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  expect(metrics).toContain("\nroadbook_snapshot_source_up 0\n");
  expect(metrics).toMatch(/\nroadbook_snapshot_source_bytes_total [1-9]/);
  expect(metrics).toMatch(/\nroadbook_snapshot_source_last_success_timestamp_seconds 1\d{9}\n/);
  await server.close();
  expect(failed.stderr + log + health + metrics).not.toMatch(/wr0ng|t0ken|Signature|X-Amz|S3RVER/);
});

test.each<[string, string[], string]>([
  [
    "import to a web URL",
    ["import", "x", "--to", "https://a:secret@b/c"],
    "--to must be a file or s3://bucket/key",
  ],
  [
    "apply to an s3:// URL without a key",
    ["apply", "x", "--to", "s3://secret"],
    "--to must have the form s3://bucket/key",
  ],
  [
    "serve from a malformed URL",
    ["--snapshot", "https://:secret"],
    "--snapshot must be a file or an https://",
  ],
])("%s is a usage error whose message does not repeat the URL", async (_, words, message) => {
  const { code, stderr } = await run(...words);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(stderr).not.toContain("secret");
});

test("an s3:// URL is a usage error if the credentials are not set", async () => {
  const { code, stderr } = await roadbook(["--snapshot", "s3://bucket/key"]);
  expect([code, stderr]).toEqual([
    2,
    "roadbook: s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\n",
  ]);
});

test.each(["at the start", "while it serves"])(
  "SIGTERM leaves no partial file if the server is downloading %s",
  async (when) => {
    const snapshot = readFileSync(await makeSnapshot());
    let isSlow = when === "at the start";
    let stuck = 0;
    const web = createServer((_, response) => {
      response.writeHead(200, { "content-length": snapshot.length });
      if (!isSlow) return response.end(snapshot);
      stuck++;
      return response.write(snapshot.subarray(0, 9000));
    });
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    const { port } = web.address() as AddressInfo;
    const [TMPDIR, cache] = [temporaryFolder(), temporaryFolder()];
    const places = isSlow ? [] : ["--cache-dir", cache];
    const words = ["serve", "--port", "0", "--snapshot", `http://127.0.0.1:${port}/x`, ...places];
    const child = Bun.spawn([await executable(), ...words, "--refresh", "20ms"], {
      env: { TMPDIR },
      stdout: "pipe",
      stderr: "ignore",
    });
    if (!isSlow) await readyOrigin(child.stdout);
    isSlow = true;
    await until(() => stuck > 0);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(when === "at the start" ? 143 : 0);
    expect(readdirSync(TMPDIR)).toEqual([]);
    expect(readdirSync(cache).filter((name) => !/\.snapshot(\.lock)?$/.test(name))).toEqual([]);
    web.closeAllConnections();
    web.close();
  },
);
