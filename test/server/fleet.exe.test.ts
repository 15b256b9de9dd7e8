/**
 * Three servers that share an object store and a Redis server, behind nginx configured as in
 * scripts/deploy. Each test continues from where the previous test ended.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { community, makeSnapshot } from "../datasets.ts";
import { hasRedisServer, openRedisServer, type RedisServer } from "../limit/redis-server.ts";
import { hasProxy, nginxWith, openProxy } from "../scripts/proxies.ts";
import { openS3Server, type S3Server } from "../snapshot/remote/s3-server.ts";
import {
  findFreePort,
  openExecutable,
  run,
  type Target,
  temporaryFolder,
  underLoad,
  until,
} from "../support.ts";

/** Far longer than an instance takes to look at the store. */
const LOOK_MS = 10_000;
const isRequired = Boolean(process.env.ROADBOOK_REQUIRE_ALL);
const hasAll = hasProxy({ program: "nginx" }) && hasRedisServer();
if (!hasAll) console.warn("nginx or redis-server is missing: the fleet is not tested");

const SIZE = 3;
const KEY = "community.snapshot";

type Instance = Target & { pid: number };

/** A community with `word` in every name. It makes a response that mixes two snapshots visible. */
const datasetWith = (word: string) =>
  community.map((line) => ("name" in line ? { ...line, name: `${line.name} ${word}` } : line));

describe.if(hasAll || isRequired)("a fleet", () => {
  let store: S3Server;
  let redis: RedisServer;
  let fleet: Instance[] = [];
  let balancer: Awaited<ReturnType<typeof openProxy>>;
  let origin: string;
  const caches = Array.from({ length: SIZE }, () => temporaryFolder());

  beforeAll(async () => {
    [store, redis] = await Promise.all([openS3Server(), openRedisServer()]);
    await publish("alpha");
    fleet = await Promise.all(caches.map(openInstance));
    const servers = fleet.map((instance) => `server ${new URL(instance.origin).host};`);
    const nginx = nginxWith((site) =>
      site
        .replace(/server 127.0.0.1:\d+;/, servers.join("\n"))
        .replace("location / {", "location / {\nadd_header X-Instance $upstream_addr always;"),
    );
    balancer = await openProxy(nginx, { listen: findFreePort(), upstream: 0 });
    origin = balancer.origin;
  });
  afterAll(async () => {
    await balancer.close();
    await Promise.all(fleet.map((instance) => instance.close()));
    await Promise.all([store.kill(), redis.kill()]);
  });

  function openInstance(cache: string): Promise<Instance> {
    const words = ["--snapshot", store.url(KEY), "--cache-dir", cache, "--refresh", "1h"];
    const shared = ["--rate-limit-store", redis.url, "--trusted-proxy", "127.0.0.1"];
    return openExecutable([...words, ...shared, "--log-level", "fatal"], undefined, store.env);
  }

  async function publish(word: string): Promise<void> {
    await store.put(KEY, readFileSync(await makeSnapshot(datasetWith(word))));
  }

  /**
   * Makes each instance look at the store until it is as expected. None looks once too often,
   * because s3rver overwrites an object in place, and so it could download a half of the next one.
   */
  async function untilAll(isDone: (instance: Instance) => Promise<boolean>): Promise<void> {
    for (const instance of fleet) {
      while (!(await isDone(instance))) {
        process.kill(instance.pid, "SIGHUP");
        await until(() => isDone(instance), LOOK_MS).catch(() => {});
      }
    }
  }

  /** Returns the distinct words in a profile, or the status of an error. */
  async function wordsIn(response: Response): Promise<string> {
    const text = await response.text();
    if (response.status !== 200) return `${response.status}`;
    return [...new Set(text.match(/alpha|omega|gamma/g))].join();
  }
  const wordOf = async (instance: Instance) => wordsIn(await instance.fetch("/users/public/42"));
  const untilAllServe = (word: string) => untilAll(async (one) => (await wordOf(one)) === word);
  const untilAllSay = (error: string | null) =>
    untilAll(async (one) => (await errorOf(one)) === error);
  const errorOf = async (instance: Instance): Promise<string | null> =>
    (await (await instance.fetch("/health")).json()).snapshot_source.error;

  const words = async () => wordsIn(await fetch(`${origin}/users/public/42`));
  /** nginx never sends a request again that an instance had received when it was killed. */
  const LOST = "502";

  test("a new snapshot reaches all instances, and no response mixes two snapshots", async () => {
    const seen = await underLoad(words, async () => {
      await publish("omega");
      await untilAllServe("omega");
    });
    expect([...seen].sort()).toEqual(["alpha", "omega"]);
  });

  test("a client's searches are counted together by all instances", async () => {
    /** Searches from a loopback address. Returns the budget left. */
    const search = async (from: string) => {
      const words = ["-s", "-D", "-", "-o", "/dev/null", "--interface", from];
      const { stdout } = await run(["curl", ...words, `${origin}/search/users?q=nowak`]);
      const [, instance] = /^x-instance: (\S+)/im.exec(stdout) ?? [];
      return { remaining: /^x-ratelimit-remaining: (\d+)/im.exec(stdout)?.[1], instance };
    };
    // An instance that misses the store's deadline counts on its own until it has connected again,
    // so a machine under load needs another try, with another client.
    let client = 1;
    await until(async () => {
      const from = `127.0.0.${++client}`;
      const counts = [await search(from), await search(from), await search(from)];
      expect(new Set(counts.map(({ instance }) => instance)).size).toBe(SIZE);
      return counts.map(({ remaining }) => remaining).join() === "29,28,27";
    });
  });

  test("when an instance is killed, the others respond and get the new snapshot", async () => {
    const seen = await underLoad(words, async () => {
      const killed = fleet.pop();
      if (killed) process.kill(killed.pid, "SIGKILL");
      await publish("gamma");
      await untilAllServe("gamma");
    });
    expect([...seen].filter((each) => each !== LOST).sort()).toEqual(["gamma", "omega"]);
    for (let times = 0; times < 2 * SIZE; times++) expect(await words()).toBe("gamma");
  });

  test("while the store is down, a new instance starts from its cache", async () => {
    await store.kill();
    const seen = await underLoad(words, async () => {
      await untilAllSay("cannot be reached: connection refused");
      fleet.push(await openInstance(caches[SIZE - 1] ?? ""));
    });
    expect([...seen]).toEqual(["gamma"]);
    // The killed instance had cached the snapshot with omega.
    expect(await Promise.all(fleet.map(wordOf))).toEqual(["gamma", "gamma", "omega"]);
    await store.start();
    await untilAllServe("gamma");
    await untilAllSay(null);
  });
});
