/** The library: its options, clock, changes, addresses and cleanup. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  applyChanges,
  type ChangeLine,
  checkSnapshot,
  createRoadbook,
  DatasetError,
  type DatasetLine,
  exportDataset,
  type HealthBody,
  importDataset,
  type Roadbook,
  type RoadbookOptions,
  SnapshotError,
} from "../src/library.ts";
import { community, makeSnapshot, textOf, user } from "./datasets.ts";
import { temporaryFolder } from "./support.ts";

const ask = async (roadbook: Roadbook, path: string, peer?: string) =>
  roadbook.fetch(new Request(`http://roadbook.test${path}`), peer);
const SEARCH = "/search/users?q=nowak";

test.each([
  [{}, "give exactly one of snapshot, dataset and demo"],
  [{ dataset: [], demo: true }, "give exactly one of snapshot, dataset and demo"],
  [{ searchLimit: -1 }, "searchLimit must be a whole number from 0 to 1000000, got -1"],
  [{ searchLimit: "30" }, "searchLimit must be of type number, got string"],
  [{ searchWindow: 1000 }, "searchWindow must be of type string, got number"],
  [{ searchWindow: "0s" }, "searchWindow must be a duration from 1ms to 24d, such as 1h"],
  [{ basePath: "/rb/.." }, "basePath must be a path such as /rb"],
  [{ trustedProxies: "10.0.0.0/8" }, "trustedProxies must be of type array, got string"],
  [{ dataset: null }, "dataset must be of type string or bytes or iterable, got null"],
  [{ dataset: {} }, "dataset must be of type string or bytes or iterable, got object"],
  [{ demo: true, logo: 5 }, "logo must be of type string or bytes, got number"],
  [{ demo: true, logo: {} }, "logo must be of type string or bytes, got object"],
  [{ trustedProxies: [5] }, "trustedProxies must be of type string, got number"],
  [{ featured: [true] }, "featured must be of type number or string, got boolean"],
  [{ serchLimit: 1 }, "unknown option serchLimit; did you mean searchLimit?"],
  [{ trustedProxies: ["10.0.0.0/33"] }, "trustedProxies must be an IP address or CIDR"],
])("with %j, the error is: %s", async (options, message) => {
  await expect(createRoadbook(options as RoadbookOptions)).rejects.toThrow(message);
});

test("an object that cannot be JSON is named by its line", async () => {
  const dataset = [user(1, "Ann"), { ...user(2, "Bea"), id: 2n }] as object[];
  const creating = createRoadbook({ dataset } as RoadbookOptions);
  await expect(creating).rejects.toThrow(/^line 2 of the source cannot be JSON: .*BigInt/);
});

test("the clock lets a test skip the limit's one-hour window", async () => {
  let now = Date.UTC(2026, 0, 1);
  const clock = () => now;
  await using roadbook = await createRoadbook({ dataset: community, clock, searchLimit: 1 });
  const search = () => ask(roadbook, SEARCH, "192.0.2.1");
  expect((await search()).status).toBe(200);
  const { status, headers } = await search();
  expect([status, headers.get("retry-after")]).toEqual([429, "3600"]);
  expect(headers.get("x-ratelimit-reset")).toBe(String(now / 1000 + 3600));
  now += 3_600_000 - 1;
  expect((await search()).status).toBe(429);
  now += 1;
  expect((await search()).status).toBe(200);
});

test.each([
  ["the option", { basePath: "/rb/" }, "http://roadbook.test/rb"],
  ["the public URL", { publicUrl: "https://example.org/rb" }, "https://example.org/rb"],
])("with a base path from %s, all links start with it", async (_, options, base) => {
  const given = { dataset: community, page: true, featured: [42], ...options };
  await using roadbook = await createRoadbook(given);
  for (const path of ["/rb", "/rb/", "/", "/rb/?q=express", "/rb/drivers/42", "/rb/docs"]) {
    const response = await ask(roadbook, path);
    expect([path, response.status]).toEqual([path, 200]);
    const links = [...(await response.text()).matchAll(/ (?:href|src|action)="(\/[^"]*)"/g)];
    expect(links.length).toBeGreaterThan(0);
    for (const [, link = ""] of links) {
      expect(link).toStartWith("/rb/");
      expect([link, (await ask(roadbook, link)).status]).toEqual([link, 200]);
    }
  }
  await roadbook.apply([user(50, "Zofia", { avatar_url: null })]);
  for (const path of ["/rb/users/public/50", "/users/public/50"]) {
    expect(await (await ask(roadbook, path)).text()).toContain(`"${base}/avatars/50.svg"`);
  }
  expect((await ask(roadbook, "/rb/docs/json")).status).toBe(200);
  expect(await (await ask(roadbook, "/rb/docs")).text()).toContain('data-url="/rb/docs/json"');
  expect((await ask(roadbook, "/rbx/users/public/50")).status).toBe(404);
});

test("defaultPeer is the client of requests without a peer", async () => {
  const options = { searchLimit: 1, defaultPeer: "192.0.2.1" };
  await using roadbook = await createRoadbook({ dataset: community, ...options });
  expect((await ask(roadbook, SEARCH)).status).toBe(200);
  expect((await ask(roadbook, SEARCH, "192.0.2.1")).status).toBe(429);
  expect((await ask(roadbook, SEARCH, "192.0.2.2")).status).toBe(200);
});

test("if onResponse throws, the response is unchanged, and onBug gets the error", async () => {
  const bugs: unknown[] = [];
  await using roadbook = await createRoadbook({
    dataset: community,
    faults: ["achievements:delay=1ms"],
    onResponse: ({ route }) => {
      throw new Error(`no room for ${route}`);
    },
    onBug: (error) => bugs.push(error),
  });
  // One response is synchronous, and the other is delayed.
  expect((await ask(roadbook, "/users/public/42")).status).toBe(200);
  expect((await ask(roadbook, "/users/42/achievements")).status).toBe(200);
  expect(bugs.map(String)).toEqual([
    "Error: no room for /users/public/:userId",
    "Error: no room for /users/:userId/achievements",
  ]);
});

test("if onResponse rejects, onBug gets the error", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  await using roadbook = await createRoadbook({
    dataset: community,
    async onResponse() {
      await Promise.resolve();
      throw new Error("no room");
    },
    onBug: resolve,
  });
  expect((await ask(roadbook, "/users/public/42")).status).toBe(200);
  expect(String(await promise)).toBe("Error: no room");
});

test("an onBug that throws or rejects does not replace the response", async () => {
  const fail = () => {
    throw new Error("no room for a bug");
  };
  for (const onBug of [fail, async () => fail()]) {
    const options = { dataset: community, onResponse: fail, onBug };
    await using roadbook = await createRoadbook(options);
    expect((await ask(roadbook, "/users/public/42")).status).toBe(200);
  }
});

test("fetch says so if it gets the request of node:http", async () => {
  await using roadbook = await createRoadbook({ dataset: community });
  const incoming = { method: "GET", url: "/users/public/42", headers: {} };
  expect(() => roadbook.fetch(incoming as never)).toThrow(/takes a Request; .*roadbook\.listener/);
});

test("changes, also as bytes, are served immediately and applied one after another", async () => {
  await using roadbook = await createRoadbook({ dataset: Bun.gzipSync(textOf(community)) });
  const before = roadbook.meta().sha256;
  await Promise.all([
    roadbook.apply([{ type: "user", id: 42, public: false }]),
    roadbook.apply(Buffer.from(textOf([user(50, "Zofia Nowak")]))),
  ]);
  expect((await ask(roadbook, "/users/public/42")).status).toBe(403);
  expect(await (await ask(roadbook, SEARCH)).text()).toContain("Zofia");
  expect(roadbook.meta().sha256).not.toBe(before);
  expect(roadbook.meta().counts).toMatchObject({ users: 4, public_users: 2 });
});

test("changes change nothing if any of them is invalid, and the error lists which", async () => {
  await using roadbook = await createRoadbook({ dataset: community });
  const lines = [user(50, "Zofia Nowak"), { type: "usr", id: 1 } as unknown as ChangeLine];
  const error = await roadbook.apply(lines).catch((error: unknown) => error);
  if (!(error instanceof DatasetError)) throw error;
  expect([error.count, error.errors.length]).toEqual([1, 1]);
  expect(error.errors[0]).toMatchObject({ line: 2, field: "type" });
  await roadbook.apply([user(51, "Ewa Nowak")]);
  expect((await ask(roadbook, "/users/public/50")).status).toBe(404);
});

test("changes to a file need applyChanges, and refresh finds them", async () => {
  const snapshot = await makeSnapshot();
  await using roadbook = await createRoadbook({ snapshot });
  const changes: ChangeLine[] = [{ type: "user", id: 42, public: false }];
  await expect(roadbook.apply(changes)).rejects.toThrow("call applyChanges and then refresh");
  await applyChanges(changes, snapshot);
  expect(await roadbook.refresh()).toMatchObject({ meta: { counts: { public_users: 1 } } });
  expect((await ask(roadbook, "/users/public/42")).status).toBe(403);
});

test("changes also work if the snapshot was given as bytes", async () => {
  const bytes = readFileSync(await makeSnapshot());
  await using roadbook = await createRoadbook({ snapshot: bytes });
  await roadbook.apply([{ type: "user", id: 42, deleted: true }]);
  expect((await ask(roadbook, "/users/public/42")).status).toBe(404);
});

test("close during a refresh ignores the new file", async () => {
  const snapshot = await makeSnapshot();
  const roadbook = await createRoadbook({ snapshot });
  await applyChanges([user(50, "Zofia Nowak")], snapshot);
  const refresh = roadbook.refresh();
  await roadbook.close();
  expect(await refresh).toBeUndefined();
});

test("close rejects an apply and a listen in progress, and later ones", async () => {
  const roadbook = await createRoadbook({ dataset: community });
  const { url, close } = await roadbook.listen();
  await close();
  const begin = () =>
    Promise.allSettled([
      roadbook.apply([user(50, "Zofia Nowak")]),
      roadbook.apply([user(51, "Ewa Nowak")]),
      roadbook.listen({ port: Number(new URL(url).port) }),
    ]);

  const pending = begin();
  await roadbook.close();
  for (const results of [await pending, await begin()]) {
    const reasons = results.map((result) => result.status === "rejected" && String(result.reason));
    expect(reasons).toEqual(Array(3).fill(expect.stringContaining("this Roadbook is closed")));
  }
  await expect(fetch(`${url}/health`)).rejects.toThrow();
  await roadbook.close();
});

test("close makes every path respond with 503, even to a request in progress", async () => {
  const roadbook = await createRoadbook({
    dataset: community,
    page: true,
    faults: ["achievements:delay=50ms"],
  });
  const users = ["/users/public/42", "/users/public/43"];
  const paths = [...users, SEARCH, "/health", "/docs", "/", "/nope"];
  for (const path of paths) for (let i = 0; i < 3; i++) await ask(roadbook, path);
  const waiting = ask(roadbook, "/users/42/achievements");
  await roadbook.close();
  const responses = await Promise.all(paths.map((path) => ask(roadbook, path)));
  for (const response of [...responses, await waiting]) {
    const message = "The data is temporarily unavailable; try again later.";
    const body = { success: false, error: { code: "unavailable", message } };
    expect([response.status, await response.json()]).toEqual([503, body]);
    expect(response.headers.get("cache-control")).toBe("no-store");
  }
});

test("listen serves on a free port, counts searches by address, and stops on close", async () => {
  const roadbook = await createRoadbook({ dataset: community, searchLimit: 1 });
  const { url } = await roadbook.listen();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  const health = (await (await fetch(`${url}/health`)).json()) as HealthBody;
  expect(health.search_limit).toEqual({ store: "memory", up: true });
  expect((await fetch(url + SEARCH)).status).toBe(200);
  expect((await fetch(url + SEARCH)).status).toBe(429);
  await roadbook.close();
  await roadbook.close();
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});

test("several instances coexist and leave no temporary files", async () => {
  // Uses its own folder, because other tests create temporary folders too.
  const { TMPDIR } = process.env;
  const folder = temporaryFolder();
  process.env.TMPDIR = folder;
  expect(tmpdir()).toBe(folder);
  const roadbooks = await Promise.all(
    [1, 2, 3].map((id) => createRoadbook({ dataset: [user(id, "Ann")], searchLimit: id })),
  );
  await Promise.all(roadbooks.map((one, at) => one.apply([user(9, `Codriver ${at}`)])));
  for (const [at, roadbook] of roadbooks.entries()) {
    expect((await ask(roadbook, `/users/public/${at + 1}`)).status).toBe(200);
    const search = await ask(roadbook, "/search/users?q=codriver", "192.0.2.1");
    expect(search.headers.get("x-ratelimit-remaining")).toBe(String(at));
    expect(await search.text()).toContain(`"Codriver ${at}"`);
    await roadbook.close();
  }
  expect(readdirSync(folder)).toEqual([]);
  process.env.TMPDIR = TMPDIR;
});

test("snapshots can be imported, changed, checked and exported, with distinct errors", async () => {
  const path = join(temporaryFolder(), "snapshot");
  const { counts } = await importDataset(community, path);
  expect(counts).toMatchObject({ users: 3, companies: 2 });
  await applyChanges([{ type: "company", id: 4, deleted: true }], path);
  expect((await checkSnapshot(path)).counts.companies).toBe(1);
  const lines = [...(await exportDataset(path))];
  expect(lines.at(-1)).toBe(`{"type":"end","lines":${lines.length - 1}}`);
  await expect(importDataset([{ type: "user" } as DatasetLine], path)).rejects.toThrow(
    DatasetError,
  );
  await expect(importDataset([], path)).rejects.toThrow(Error);
  await expect(checkSnapshot(`${path}-not`)).rejects.toThrow(SnapshotError);
});

test("a CSV file is a dataset of users", async () => {
  const path = join(temporaryFolder(), "members.csv");
  writeFileSync(path, "id,public,name,created_at\n7,yes,Ann,2021-05-01\n");
  await using roadbook = await createRoadbook({ dataset: path });
  const response = await roadbook.fetch(new Request("http://localhost/users/public/7"));
  expect(await response.json()).toMatchObject({ user: { name: "Ann" } });
});
