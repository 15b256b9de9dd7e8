/** A running server switches snapshots without failed responses or responses that mix the two. */
import { expect, test } from "bun:test";
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  community,
  listBeside,
  makeFile,
  makeLarge,
  makeSeeded,
  makeSnapshot,
  succeed,
  user,
} from "../datasets.ts";
import { runs } from "../runs.ts";
import { openExecutable, openInProcess, type Target, temporaryFolder, until } from "../support.ts";
import { flipBits, healthOf, replace, swapUnderLoad } from "./bad-days.ts";

async function serve(snapshot: string): Promise<Target & { pid: number }> {
  return openExecutable(["--snapshot", snapshot, "--search-limit", "0", "--log-level", "fatal"]);
}

async function json(server: Target, path: string): Promise<unknown> {
  return (await server.fetch(path)).json();
}

test("a profile that apply makes private becomes private on the running server", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  // Requests everything three times, so that cached data is tested too.
  for (let times = 0; times < 3; times++) {
    expect((await server.fetch("/users/public/44")).status).toBe(200);
    expect((await server.fetch("/users/44/achievements")).status).toBe(200);
    expect(await json(server, "/search/users?q=nora")).toMatchObject({ users: [{ id: 44 }] });
  }
  await succeed(["apply", makeFile([{ type: "user", id: 44, public: false }]), "--to", snapshot]);
  await until(async () => (await server.fetch("/users/public/44")).status === 403);
  expect(await json(server, "/search/users?q=nora")).toEqual({ success: true, users: [] });
  expect((await server.fetch("/users/44/achievements")).status).toBe(403);
  await server.close();
});

test("SIGHUP makes the server check the snapshot file immediately", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  replace(snapshot, await makeSnapshot([...community, user(99, "New One")]));
  process.kill(server.pid, "SIGHUP");
  await until(async () => (await server.fetch("/users/public/99")).status === 200);
  await server.close();
});

test("import replaces a snapshot that is being served and leaves no other files", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  await succeed(["import", makeFile([...community, user(99, "New One")]), "--to", snapshot]);
  await until(async () => (await server.fetch("/users/public/99")).status === 200);
  expect(listBeside(snapshot)).toEqual(["snapshot"]);
  await server.close();
});

test("swaps under load cause no failed responses and none that mix two snapshots", async () => {
  const { alpha, omega, wrong } = await swapUnderLoad(runs(30));
  expect(wrong).toEqual([]);
  expect(Math.min(alpha, omega)).toBeGreaterThan(runs(10));
}, 60_000);

test("a bad replacement is refused, and /health shows why; the old snapshot stays", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  const before = await healthOf(server);
  expect(before.refused_replacement).toBeNull();
  const good = readFileSync(snapshot);
  for (const [bad, reason] of [
    [Buffer.alloc(0), "is empty"],
    [good.subarray(0, good.length / 2), /^is damaged: it has \d+ bytes instead of \d+$/],
    [Buffer.from("not a snapshot at all".repeat(100)), "is not a Roadbook snapshot"],
  ] as const) {
    const file = join(temporaryFolder(), "bad");
    writeFileSync(file, bad);
    replace(snapshot, file);
    await until(async () =>
      new RegExp(reason).test((await healthOf(server)).refused_replacement ?? ""),
    );
    expect((await healthOf(server)).snapshot).toEqual(before.snapshot);
    expect((await server.fetch("/users/public/44")).status).toBe(200);
    expect(await json(server, "/search/users?q=nora")).toMatchObject({ users: [{ id: 44 }] });
  }
  unlinkSync(snapshot);
  await until(
    async () =>
      (await healthOf(server)).refused_replacement === "cannot be read: no such file or directory",
  );
  replace(snapshot, await makeSnapshot([...community, user(99, "New One")]));
  await until(async () => (await server.fetch("/users/public/99")).status === 200);
  expect((await healthOf(server)).refused_replacement).toBeNull();
  await server.close();
});

test.each([
  ["held in memory", async () => (await makeSeeded(300)).snapshot, runs(12)],
  ["read as needed", () => makeLarge(), runs(6)],
])(
  "a replacement with one flipped bit is never served (snapshots %s)",
  async (_, make, count) => {
    expect(await flipBits(await make(), count, 5)).toEqual([]);
  },
  60_000,
);

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
  const failure = "cannot be read: too many open files; serving the old snapshot, trying again";
  await succeed(["apply", makeFile([{ type: "user", id: 44, public: false }]), "--to", snapshot]);
  await until(() => log.includes(failure));
  process.kill(server.pid, "SIGHUP");
  await Bun.sleep(500); // long enough for two more attempts, which fail
  await limit(`${max}:`);
  await until(async () => (await server.fetch("/users/public/44")).status === 403);
  expect((await healthOf(server)).refused_replacement).toBeNull();
  await server.close();
  expect(log.split(failure)).toHaveLength(2);
}, 30_000);

test("SIGHUP makes the server retry a snapshot file that was temporarily missing", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  const folder = join(snapshot, "..");
  renameSync(folder, `${folder}-away`);
  await until(async () => (await healthOf(server)).refused_replacement !== null);
  renameSync(`${folder}-away`, folder);
  process.kill(server.pid, "SIGHUP");
  await until(async () => (await healthOf(server)).refused_replacement === null);
  await server.close();
});

test("a bad replacement is logged only once, even after several SIGHUPs", async () => {
  const snapshot = await makeSnapshot();
  const log: string[] = [];
  const server = await openExecutable(["--snapshot", snapshot, "--search-limit", "0"], (text) =>
    log.push(text),
  );
  writeFileSync(`${snapshot}.copy`, "");
  renameSync(`${snapshot}.copy`, snapshot);
  await until(async () => (await healthOf(server)).refused_replacement !== null);
  for (let times = 0; times < 5; times++) process.kill(server.pid, "SIGHUP");
  replace(snapshot, await makeSnapshot());
  await until(async () => (await healthOf(server)).refused_replacement === null);
  await server.close();
  expect(log.join("").match(/is empty; serving the old snapshot/g)).toHaveLength(1);
});

test("the server keeps running while its snapshot path is a broken symbolic link", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  renameSync(snapshot, `${snapshot}.away`);
  symlinkSync(snapshot, snapshot); // links to itself
  await until(async () => (await healthOf(server)).refused_replacement !== null);
  expect((await healthOf(server)).refused_replacement).not.toContain(snapshot);
  expect((await server.fetch("/users/public/42")).status).toBe(200);
  renameSync(`${snapshot}.away`, snapshot);
  await until(async () => (await healthOf(server)).refused_replacement === null);
  await server.close();
});

test("a large snapshot may be overwritten in place, even repeatedly and under load", async () => {
  const publicUrl = "http://roadbook.test";
  const paths = Array.from({ length: 120 }, (_, id) => [
    `/users/public/${id * 41 + 1}`,
    `/users/${id * 41 + 1}/achievements`,
    `/search/users?q=${String.fromCharCode(97 + (id % 26))}a`,
  ]).flat();
  const summarize = async (target: Target, path: string) => {
    const response = await target.fetch(path);
    return `${response.status} ${await response.text()}`;
  };
  const responsesOf = async (snapshot: string) => {
    const target = await openInProcess({ snapshot, publicUrl });
    const responses = new Map<string, string>();
    for (const path of paths) responses.set(path, await summarize(target, path));
    await target.close();
    return responses;
  };
  const [snapshot, other] = [await makeLarge(), await makeLarge(4500)];
  const [before, after] = [await responsesOf(snapshot), await responsesOf(other)];
  const lines: string[] = [];
  const server = await openExecutable(
    ["--snapshot", snapshot, "--search-limit", "0", "--public-url", publicUrl],
    (text) => lines.push(...text.split("\n").filter((line) => line !== "")),
  );
  let isDone = false;
  const wrong: string[] = [];
  const hammer = (async () => {
    for (let at = 0; !isDone; at++) {
      const path = paths[at % paths.length] ?? "/";
      const got = await summarize(server, path);
      if (![before.get(path), after.get(path)].includes(got)) wrong.push(`${path}: ${got}`);
    }
  })();
  for (let times = 0; times < runs(3); times++) {
    for (const size of [0, 4_000_000, 8_765_432]) {
      writeFileSync(snapshot, readFileSync(other).subarray(0, size)); // like an unfinished copy
      await Bun.sleep(300); // gives the server time to check the file
    }
  }
  copyFileSync(other, snapshot);
  const path = paths.find((path) => before.get(path) !== after.get(path)) ?? "";
  await until(async () => (await summarize(server, path)) === after.get(path));
  isDone = true;
  await hammer;
  expect(wrong).toEqual([]);
  await server.close();
  expect(lines.filter((line) => line.includes("serving the old snapshot"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes("serving a new snapshot"))).toHaveLength(1);
}, 60_000);

const isLinux = process.platform === "linux";

test.skipIf(!isLinux).each([
  ["held in memory", async () => (await makeSeeded(5000)).snapshot],
  ["copied and mapped", () => makeLarge()],
])(
  "repeated swaps leak neither file descriptors nor memory (snapshots %s)",
  async (_, make) => {
    const snapshot = await make();
    const other = join(temporaryFolder(), "other");
    copyFileSync(snapshot, other);
    await succeed([
      "apply",
      makeFile([{ type: "company", id: 1, name: "Changed", member_count: 1 }]),
      "--to",
      other,
    ]);
    const server = await serve(snapshot);
    const spare = `${snapshot}.spare`;
    copyFileSync(other, spare);
    const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length;
    const residentKiB = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]);
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
    await swap(20);
    const [descriptorsBefore, residentBefore] = [descriptors(), residentKiB()];
    await swap(100);
    expect(descriptors()).toBeLessThanOrEqual(descriptorsBefore + 2);
    expect(residentKiB()).toBeLessThan(residentBefore + 40 * 1024);
    await server.close();
  },
  60_000,
);
