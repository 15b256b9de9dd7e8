/** A running server switches snapshots without failed responses or responses that mix the two. */
import { expect, test } from "bun:test";
import { copyFileSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { applyChanges } from "../../src/import/apply.ts";
import {
  bytesOf,
  community,
  listBeside,
  makeFile,
  makeLarge,
  makeSnapshot,
  succeed,
  user,
} from "../datasets.ts";
import { runs } from "../runs.ts";
import { megabytesOf, openExecutable, type Target, temporaryFolder, until } from "../support.ts";

const healthOf = async (server: Target) => (await server.fetch("/health")).json();

test("what apply and import write is served, and a user who goes private is private", async () => {
  const snapshot = await makeSnapshot();
  const server = await openExecutable(["--snapshot", snapshot, "--search-limit", "0"]);
  const found = async () => (await (await server.fetch("/search/users?q=nora")).json()).users;
  // Requests everything three times, so that cached data is tested too.
  for (let times = 0; times < 3; times++) {
    expect((await server.fetch("/users/public/44")).status).toBe(200);
    expect((await server.fetch("/users/44/achievements")).status).toBe(200);
    expect(await found()).toMatchObject([{ id: 44 }]);
  }
  await succeed(["apply", makeFile([{ type: "user", id: 44, public: false }]), "--to", snapshot]);
  await until(async () => (await server.fetch("/users/public/44")).status === 403);
  expect(await found()).toEqual([]);
  expect((await server.fetch("/users/44/achievements")).status).toBe(403);
  await succeed(["import", makeFile([...community, user(99, "New One")]), "--to", snapshot]);
  await until(async () => (await server.fetch("/users/public/99")).status === 200);
  // An import does not undo a recent takedown.
  expect((await server.fetch("/users/public/44")).status).toBe(403);
  expect(listBeside(snapshot)).toEqual(["snapshot"]);
  await server.close();
});

test("swaps under load cause no failed responses and none that mix two snapshots", async () => {
  // Every text of a snapshot has its word.
  const words = ["Alpha", "Omega"];
  const snapshots = await Promise.all(
    words.map((word) =>
      makeSnapshot([
        { type: "company", id: 1, name: `Company ${word}`, member_count: 5 },
        user(7, `Driver ${word}`, { company: { id: 1, role: word } }),
      ]),
    ),
  );
  const snapshot = join(temporaryFolder(), "snapshot");
  const swapIn = (at: number) => {
    copyFileSync(snapshots[at % 2] ?? "", `${snapshot}.copy`);
    renameSync(`${snapshot}.copy`, snapshot);
  };
  swapIn(0);
  const server = await openExecutable(["--snapshot", snapshot, "--search-limit", "0"]);
  const paths = ["/search/users?q=driver", "/users/public/7", "/search/companies?q=co"];
  const seen = [0, 0];
  const wrong: string[] = [];
  let isOver = false;
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let count = client; !isOver; count++) {
      const response = await server.fetch(paths[count % paths.length] ?? "/");
      const text = await response.text();
      const found = words.map((word) => text.includes(word));
      if (response.status !== 200 || found[0] === found[1]) wrong.push(text);
      seen[Number(found[1])] = 1 + (seen[Number(found[1])] ?? 0);
    }
  });
  for (let swaps = 1; swaps <= runs(6); swaps++) {
    const before = seen[swaps % 2] ?? 0;
    swapIn(swaps);
    process.kill(server.pid, "SIGHUP");
    await until(() => (seen[swaps % 2] ?? 0) > before);
  }
  isOver = true;
  await Promise.all(clients);
  await server.close();
  expect(wrong).toEqual([]);
});

test("a replacement that fails because of too many open files is retried", async () => {
  const snapshot = await makeSnapshot();
  let log = "";
  const server = await openExecutable(["--snapshot", snapshot], (text) => {
    log += text;
  });
  const limit = async (files: string) => {
    await Bun.$`prlimit --pid ${server.pid} --nofile=${files}`;
  };
  const { stdout } = await Bun.$`prlimit --pid ${server.pid} --nofile -o SOFT --noheadings`.quiet();
  const max = stdout.toString().trim();
  expect((await server.fetch("/users/public/44")).status).toBe(200);
  await limit("3:"); // files that are already open stay open
  const failure = "cannot be read: too many open files; serving the old snapshot";
  await applyChanges(bytesOf([{ type: "user", id: 44, public: false }]), snapshot);
  await until(() => log.includes(failure));
  process.kill(server.pid, "SIGHUP");
  await limit(`${max}:`);
  await until(async () => (await server.fetch("/users/public/44")).status === 403);
  expect((await healthOf(server)).refused_replacement).toBeNull();
  await server.close();
  expect(log.split(failure)).toHaveLength(2);
});

/** Users whose snapshot has more than 3 MB. */
const many = Array.from({ length: 1500 }, (_, id) =>
  user(id + 1, `Driver ${id}`, { avatar_url: `/${"a".repeat(2000)}` }),
);
const isLinux = process.platform === "linux";

test.skipIf(!isLinux).each([
  ["held in memory", () => makeSnapshot(many)],
  ["copied and mapped", () => makeLarge()],
])("repeated swaps leak neither file descriptors nor memory (snapshots %s)", async (_, make) => {
  const snapshot = await make();
  const spare = join(temporaryFolder(), "spare");
  copyFileSync(snapshot, spare);
  const change = { type: "company", id: 1, name: "Changed", member_count: 1 };
  await applyChanges(bytesOf([change]), spare);
  const server = await openExecutable(["--snapshot", snapshot, "--search-limit", "0"]);
  const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length;
  const identity = async () => (await healthOf(server)).snapshot.sha256;

  async function swap(times: number): Promise<void> {
    for (let count = 0; count < times; count++) {
      const before = await identity();
      // The two files swap names, so nothing is copied.
      renameSync(snapshot, `${snapshot}.old`);
      renameSync(spare, snapshot);
      renameSync(`${snapshot}.old`, spare);
      process.kill(server.pid, "SIGHUP");
      await until(async () => (await identity()) !== before);
      await server.fetch("/search/users?q=an");
    }
  }
  await swap(5);
  const descriptorsBefore = descriptors();
  const before = megabytesOf(server.pid, "VmRSS");
  await swap(40);
  expect(descriptors()).toBeLessThanOrEqual(descriptorsBefore + 2);
  // Forty snapshots of at least 3 MB would be 120 MB, and freed memory may be returned late.
  expect(readFileSync(snapshot).length).toBeGreaterThan(3e6);
  expect(megabytesOf(server.pid, "VmRSS")).toBeLessThan(before + 100);
  await server.close();
});
