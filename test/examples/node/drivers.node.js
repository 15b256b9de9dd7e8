/** Uses all parts of the package, in Node's test runner and in the test runners of Bun and Deno. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  applyChanges,
  checkSnapshot,
  createRoadbook,
  exportDataset,
  fold,
  importDataset,
} from "roadbook";

const line = {
  type: "user",
  id: 42,
  public: true,
  name: "Łukasz",
  created_at: "2021-05-01T10:00:00Z",
};

/** Sends raw text and returns everything that arrives until the server closes the connection. */
function send(url, text) {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}

test("the demo has docs, a page and drawings", async () => {
  const roadbook = await createRoadbook({ demo: true, page: true });
  const { url } = await roadbook.listen();
  for (const [path, type] of [
    ["/", "text/html"],
    ["/docs", "text/html"],
    ["/docs/json", "application/json"],
    ["/docs/scalar.js", "text/javascript"],
    ["/avatars/42.svg", "image/svg+xml"],
    ["/health", "application/json"],
    ["/users/public/42", "application/json"],
  ]) {
    const response = await fetch(url + path);
    assert.equal(response.status, 200, path);
    assert.ok(response.headers.get("content-type").startsWith(type), path);
    assert.ok((await response.text()).length > 100, path);
  }
  const page = await (await fetch(url)).text();
  for (const [, asset] of page.matchAll(/"(\/assets\/[^"]+)"/g)) {
    assert.equal((await fetch(url + asset)).status, 200);
  }
  await roadbook.close();
});

test("raw requests get the right responses", async () => {
  const roadbook = await createRoadbook({ dataset: [line], faults: ["profile:close,rate=1"] });
  const { url } = await roadbook.listen();
  const head = "HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
  const status = async (start) => (await send(url, `${start} ${head}`)).slice(9, 12);
  assert.equal(await status("GET /users/42/achievements"), "200");
  assert.equal(await status("GET /users//42/achievements"), "404");
  assert.equal(await status("TRACE /users/42/achievements"), "405");
  assert.equal(await status("OPTIONS /users/42/achievements"), "204");
  assert.equal(await status("GET /users/public/42"), "");
  const response = await fetch(`${url}/users/42/achievements`, { method: "HEAD" });
  assert.ok(Number(response.headers.get("content-length")) > 10);
  await assert.rejects(roadbook.listen({ port: Number(new URL(url).port) }), /is already in use/);
  await roadbook.close();
});

test("snapshots and compressed datasets work and leave no other files behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "example-"));
  const list = () => readdirSync(tmpdir()).filter((name) => name.startsWith("roadbook-"));
  const before = list();
  const snapshot = join(folder, "snapshot");
  const file = join(folder, "dataset");
  const tables = join(folder, "tables");
  mkdirSync(tables);
  writeFileSync(join(tables, "users.csv"), "id,public,name,created_at\n43,no,,\n");
  assert.equal((await importDataset(tables, snapshot)).counts.users, 1);
  // Databases need Bun, where this folder has no queries.
  const reason = /need the executable or Bun|the files can be/;
  await assert.rejects(importDataset("sqlite:x", snapshot, { queries: tables }), reason);
  const { differences } = await importDataset([line], snapshot);
  assert.deepEqual([differences.users.added, differences.users.removed], [1, 1]);
  await applyChanges([{ type: "user", id: 43, public: false }], snapshot);
  assert.equal((await importDataset([line, { ...line, id: 43 }], snapshot)).held, 1);
  assert.equal((await checkSnapshot(snapshot)).counts.users, 2);
  const lines = [...(await exportDataset(snapshot))];
  assert.equal(lines.length, 3);
  for (const encode of [gzipSync, String]) {
    writeFileSync(file, encode(lines.join("\n")));
    const roadbook = await createRoadbook({ dataset: file });
    await roadbook.apply([{ type: "user", id: 42, deleted: true }]);
    assert.equal(roadbook.meta().counts.users, 1);
    await roadbook.close();
  }
  const served = await createRoadbook({ snapshot });
  await applyChanges([{ type: "user", id: 42, public: false }], snapshot, { allowShrink: true });
  await served.refresh();
  assert.equal((await served.fetch(new Request("http://a.test/users/public/42"))).status, 403);
  await served.close();
  assert.deepEqual(readdirSync(folder).sort(), [".snapshot.lock", "dataset", "snapshot", "tables"]);
  assert.deepEqual(list(), before);
  rmSync(folder, { recursive: true });
});

test("ten instances can run at the same time", async () => {
  const roadbooks = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      createRoadbook({ dataset: [{ ...line, name: `Name ${i}` }] }),
    ),
  );
  for (const [i, roadbook] of roadbooks.entries()) {
    const response = await roadbook.fetch(new Request("http://a.test/search/users?q=name"));
    assert.ok((await response.text()).includes(`"Name ${i}"`));
    await roadbook.close();
  }
});

test("fold removes accents and converts to lower case", () => {
  assert.equal(fold("ŁÓDŹ"), "lodz");
});
