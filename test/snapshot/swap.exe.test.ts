/** That a running server goes over to a replaced snapshot, whole and without a failed answer. */
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
import { community, makeFile, makeSeeded, makeSnapshot, succeed, user } from "../datasets.ts";
import { openExecutable, type Target, temporaryFolder } from "../support.ts";

/** Puts a copy of a file in the place of another at once. */
function replace(target: string, by: string): void {
  copyFileSync(by, `${target}.copy`);
  renameSync(`${target}.copy`, target);
}

async function serve(snapshot: string): Promise<Target & { pid: number }> {
  return openExecutable(["--snapshot", snapshot, "--search-limit", "0", "--log-level", "fatal"]);
}

interface Health {
  snapshot: { dataset_sha256: string; counts: { users: number } };
  refused_replacement: string | null;
}

async function json(server: Target, path: string): Promise<unknown> {
  return (await server.fetch(path)).json();
}

async function healthOf(server: Target): Promise<Health> {
  return (await json(server, "/health")) as Health;
}

/** Asks until the answer is right; a test that waits in vain runs into its time limit. */
async function until(isRight: () => Promise<boolean>): Promise<void> {
  while (!(await isRight())) await Bun.sleep(10);
}

test("a profile taken private by apply is private on the running server", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  expect((await server.fetch("/users/public/44")).status).toBe(200);
  expect(await json(server, "/search/users?q=nora")).toMatchObject({ users: [{ id: 44 }] });
  await succeed(["apply", makeFile([{ type: "user", id: 44, public: false }]), "--to", snapshot]);
  await until(async () => (await server.fetch("/users/public/44")).status === 403);
  expect(await json(server, "/search/users?q=nora")).toEqual({ success: true, users: [] });
  expect((await server.fetch("/users/44/achievements")).status).toBe(403);
  await server.close();
});

test("SIGHUP makes it look at once", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  replace(snapshot, await makeSnapshot([...community, user(99, "New One")]));
  process.kill(server.pid, "SIGHUP");
  await until(async () => (await server.fetch("/users/public/99")).status === 200);
  await server.close();
});

test("import onto a snapshot in use leaves no answer out, and nothing beside it", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  await succeed(["import", makeFile([...community, user(99, "New One")]), "--to", snapshot]);
  await until(async () => (await server.fetch("/users/public/99")).status === 200);
  expect(readdirSync(join(snapshot, ".."))).toEqual(["snapshot"]);
  await server.close();
});

test("under load, every answer is wholly of one snapshot and none fails", async () => {
  // Two communities that agree in no text: in each, every name ends with the community's word.
  const communities = await Promise.all(
    ["Alpha", "Omega"].map((word) =>
      makeSnapshot([
        { type: "role", id: 1, name: `Role ${word}`, hierarchy: 1 },
        { type: "company", id: 1, name: `Company ${word}`, member_count: 5 },
        ...Array.from({ length: 40 }, (_, index) =>
          user(index + 1, `Driver ${index} ${word}`, {
            company: { id: 1, role: word },
            roles: [1],
          }),
        ),
      ]),
    ),
  );
  const [alpha = "", omega = ""] = communities;
  const snapshot = join(temporaryFolder(), "snapshot");
  copyFileSync(alpha, snapshot);
  const server = await serve(snapshot);
  const paths = [
    "/search/users?q=driver",
    "/search/users?q=company",
    "/users/public/7",
    "/search/companies?q=co",
    "/health",
  ];
  const seen = { Alpha: 0, Omega: 0 };
  let isOver = false;
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let count = client; !isOver; count++) {
      const response = await server.fetch(paths[count % paths.length] ?? "/");
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
      const [isAlpha, isOmega] = [text.includes("Alpha"), text.includes("Omega")];
      if (isAlpha && isOmega) throw new Error(`a mixed answer: ${text}`);
      if (isAlpha) seen.Alpha++;
      if (isOmega) seen.Omega++;
    }
  });
  for (let swaps = 0; swaps < 150; swaps++) {
    replace(snapshot, swaps % 2 ? alpha : omega);
    process.kill(server.pid, "SIGHUP");
    await Bun.sleep(10);
  }
  isOver = true;
  await Promise.all(clients);
  expect(Math.min(seen.Alpha, seen.Omega)).toBeGreaterThan(100);
  await server.close();
}, 30_000);

test("a bad replacement is refused and shown in /health, and the old one serves on", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  const before = await healthOf(server);
  expect(before.refused_replacement).toBeNull();
  const good = readFileSync(snapshot);
  for (const [bad, reason] of [
    [Buffer.alloc(0), "is empty"],
    [good.subarray(0, good.length / 2), /^has \d+ bytes, not the \d+ it was written with$/],
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

test("a bad replacement is logged once", async () => {
  const snapshot = await makeSnapshot();
  const log: string[] = [];
  const server = await openExecutable(["--snapshot", snapshot, "--search-limit", "0"], (text) =>
    log.push(text),
  );
  writeFileSync(`${snapshot}.copy`, "");
  renameSync(`${snapshot}.copy`, snapshot);
  await until(async () => (await healthOf(server)).refused_replacement !== null);
  for (let times = 0; times < 5; times++) process.kill(server.pid, "SIGHUP");
  await Bun.sleep(500);
  await server.close();
  expect(log.join("").match(/is empty; serving the old snapshot/g)).toHaveLength(1);
});

test("a path that leads nowhere for a while ends no server", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  renameSync(snapshot, `${snapshot}.away`);
  symlinkSync(snapshot, snapshot); // to itself
  await until(async () => (await healthOf(server)).refused_replacement !== null);
  expect((await healthOf(server)).refused_replacement).not.toContain(snapshot);
  expect((await server.fetch("/users/public/42")).status).toBe(200);
  renameSync(`${snapshot}.away`, snapshot);
  await until(async () => (await healthOf(server)).refused_replacement === null);
  await server.close();
});

test("a small snapshot that is written over in place cannot hurt the one in use", async () => {
  const snapshot = await makeSnapshot();
  const server = await serve(snapshot);
  writeFileSync(snapshot, "garbage");
  await until(async () => (await healthOf(server)).refused_replacement !== null);
  expect(await json(server, "/search/users?q=nora")).toMatchObject({ users: [{ id: 44 }] });
  await server.close();
});

test("a large snapshot that is copied over in place ends no server, which goes over to it in the end", async () => {
  const [{ snapshot }, other] = [await makeSeeded(50_000), await makeSeeded(40_000)];
  const server = await serve(snapshot);
  const users = async () => (await healthOf(server)).snapshot.counts.users;
  expect(await users()).toBe(50_000);
  let isDone = false;
  const hammer = (async () => {
    for (let id = 1; !isDone; id++) {
      for (const path of [`/users/public/${id * 7}`, `/search/users?q=${id % 100}a`]) {
        expect((await server.fetch(path)).status).toBeOneOf([200, 403, 404, 500]);
      }
    }
  })();
  for (let times = 0; times < 5; times++) {
    for (const size of [0, 9_000_000, 12_345_678]) {
      writeFileSync(snapshot, readFileSync(other.snapshot).subarray(0, size)); // as a copy goes on
      await Bun.sleep(30);
    }
  }
  copyFileSync(other.snapshot, snapshot);
  await until(async () => (await users()) === 40_000);
  isDone = true;
  await hammer;
  expect((await server.fetch("/search/users?q=an")).status).toBe(200);
  await server.close();
}, 60_000);

const isLinux = process.platform === "linux";

test.skipIf(!isLinux).each([
  ["held in memory", 1_000],
  ["read as needed", 50_000],
])(
  "1,000 swaps of snapshots %s leak neither descriptors nor memory",
  async (_, users) => {
    const { snapshot } = await makeSeeded(users);
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
    const identity = async () => (await healthOf(server)).snapshot.dataset_sha256;

    async function swap(times: number): Promise<void> {
      for (let count = 0; count < times; count++) {
        const before = await identity();
        // The two files change places, so nothing is copied.
        renameSync(snapshot, `${snapshot}.old`);
        renameSync(spare, snapshot);
        renameSync(`${snapshot}.old`, spare);
        process.kill(server.pid, "SIGHUP");
        await until(async () => (await identity()) !== before);
        await server.fetch("/search/users?q=an");
      }
    }
    await swap(200);
    const [descriptorsBefore, residentBefore] = [descriptors(), residentKiB()];
    await swap(800);
    expect(descriptors()).toBeLessThanOrEqual(descriptorsBefore + 2);
    expect(residentKiB()).toBeLessThan(residentBefore + 40 * 1024);
    await server.close();
  },
  60_000,
);
