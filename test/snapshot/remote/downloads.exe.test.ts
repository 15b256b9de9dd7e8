/** Servers that download their snapshot from a real S3-compatible store, or over https. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { InvalidValue } from "../../../src/domain/invalid-value.ts";
import { applyChanges } from "../../../src/import/apply.ts";
import { serveSettings } from "../../../src/settings/serve-flags.ts";
import { bytesOf, makeSnapshot } from "../../datasets.ts";
import {
  executable,
  makeCertificate,
  openExecutable,
  roadbook,
  temporaryFolder,
  until,
} from "../../support.ts";
import { openS3Server, type S3Server } from "./s3-server.ts";

let store: S3Server;
beforeAll(async () => {
  store = await openS3Server();
});
afterAll(() => store.kill());

test("an object is served, and on SIGHUP also after it changes", async () => {
  const key = "deep/er/ä b.snapshot";
  const snapshot = await makeSnapshot();
  await store.put(key, readFileSync(snapshot));
  const url = store.url(key);
  // s3rver overwrites an object in place, so nothing may be downloaded at that moment.
  const words = ["--snapshot", url, "--refresh", "1h"];
  const server = await openExecutable(words, undefined, store.env);
  expect((await server.fetch("/users/public/44")).status).toBe(200);
  await applyChanges(bytesOf([{ type: "user", id: 44, public: false }]), snapshot);
  await store.put(key, readFileSync(snapshot));
  process.kill(server.pid, "SIGHUP");
  await until(async () => (await server.fetch("/users/public/44")).status === 403);
  const { snapshot_source } = await (await server.fetch("/health")).json();
  expect(snapshot_source).toMatchObject({ url, error: null });
  await server.close();
});

test("no message, log line or response contains a secret", async () => {
  await store.put("s.snapshot", readFileSync(await makeSnapshot()));
  let log = "";
  const collect = (text: string) => {
    log += text;
  };
  const env = { ...store.env, AWS_ACCESS_KEY_ID: "wr0ng-key", AWS_SESSION_TOKEN: "t0ken" };
  const words = ["--snapshot", store.url("s.snapshot"), "--refresh", "1h", "--admin-port", "0"];
  const failed = await roadbook(["serve", "--port", "0", ...words], { env });
  expect(failed).toMatchObject({ code: 1, stdout: "" });
  expect(failed.stderr).toEndWith(`roadbook: ${store.url("s.snapshot")} responded with 403\n`);
  const server = await openExecutable(words, collect, store.env);
  await store.put("s.snapshot", Buffer.from("nonsense"));
  process.kill(server.pid, "SIGHUP");
  await until(() => log.includes("is not a Roadbook snapshot; serving the old snapshot"));
  const health = await (await server.fetch("/health")).text();
  expect(JSON.parse(health)).toMatchObject({
    snapshot_source: { error: "is not a Roadbook snapshot" },
  });
  const admin = /"adminUrl":"([^"]+)/.exec(log)?.[1];
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  expect(metrics).toContain("\nroadbook_snapshot_source_up 0\n");
  expect(metrics).toMatch(/\nroadbook_snapshot_source_last_success_timestamp_seconds 1\d{9}\n/);
  await server.close();
  expect(failed.stderr + log + health + metrics).not.toMatch(/wr0ng|t0ken|Signature|X-Amz|S3RVER/);
});

test("an unusable URL is a usage error whose message does not repeat it", () => {
  const parse = (text: string) => serveSettings.snapshot.type.parse(text, {});
  const unusable = "must be a file or an https://, http:// or s3://bucket/key URL";
  expect(() => parse("https://:secret")).toThrow(new InvalidValue(unusable));
  const needed = "with s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  expect(() => parse("s3://bucket/key")).toThrow(new InvalidValue(needed));
});

test("SIGTERM leaves no partial file if the server is downloading at the start", async () => {
  const snapshot = readFileSync(await makeSnapshot());
  let isStuck = false;
  const web = createServer((_, response) => {
    response.writeHead(200, { "content-length": snapshot.length });
    response.write(snapshot.subarray(0, 9000));
    isStuck = true;
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  const { port } = web.address() as AddressInfo;
  const cache = temporaryFolder();
  const words = ["serve", "--port", "0", "--snapshot", `http://127.0.0.1:${port}/x`];
  const child = Bun.spawn([await executable(), ...words, "--cache-dir", cache], {
    stdout: "ignore",
    stderr: "ignore",
  });
  await until(() => isStuck);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(143);
  expect(readdirSync(cache).filter((name) => !name.endsWith(".lock"))).toEqual([]);
  web.closeAllConnections();
  web.close();
});

test("a redirect from http to https is followed", async () => {
  const { cert, key } = await makeCertificate("DNS:localhost");
  const snapshot = new Uint8Array(readFileSync(await makeSnapshot()));
  const requested: string[] = [];
  await using secure = Bun.serve({
    port: 0,
    hostname: "localhost",
    tls: { cert: readFileSync(cert), key: readFileSync(key) },
    fetch({ url }) {
      requested.push(new URL(url).pathname);
      return new Response(snapshot);
    },
  });
  await using plain = Bun.serve({
    port: 0,
    hostname: "localhost",
    fetch: () => Response.redirect(`https://localhost:${secure.port}/snapshot`),
  });
  const words = ["--snapshot", `http://localhost:${plain.port}/up`, "--refresh", "1h"];
  const env = { NODE_EXTRA_CA_CERTS: cert, TMPDIR: temporaryFolder() };
  const server = await openExecutable(words, undefined, env);
  await server.close();
  expect(requested).toEqual(["/snapshot"]);
});
