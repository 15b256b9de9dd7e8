/** The local copy of a downloaded snapshot: when it is replaced, and how failures are reported. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setSystemTime,
  spyOn,
  test,
} from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { lock } from "../../../src/files/lock.ts";
import { checkSnapshot } from "../../../src/snapshot/format/open.ts";
import { parseWebLocation, type RemoteLocation } from "../../../src/snapshot/remote/location.ts";
import {
  openRemoteSnapshot,
  type RemoteOptions,
  type RemoteSnapshot,
} from "../../../src/snapshot/remote/remote-snapshot.ts";
import { community, makeSnapshot, user } from "../../datasets.ts";
import { temporaryFolder, until } from "../../support.ts";

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** Builds a snapshot with three users and `users` more, dated `users` seconds into 2026. */
async function build(users: number): Promise<Buffer> {
  setSystemTime(new Date(Date.UTC(2026, 0, 1, 0, 0, users)));
  const more = Array.from({ length: users }, (_, at) => user(100 + at, `Driver ${at}`));
  const path = await makeSnapshot([...community, ...more]);
  setSystemTime();
  return readFileSync(path);
}

let first: Buffer;
let second: Buffer;
let respond: Respond;
/** The If-None-Match header of each request. */
let requests: (string | undefined)[];
const web = createServer((request, response) => {
  requests.push(request.headers["if-none-match"]);
  respond(request, response);
});
let origin: string;

beforeAll(async () => {
  first = await build(2);
  second = await build(3);
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});
afterAll(() => web.close());
beforeEach(() => {
  requests = [];
  respond = serve(first);
});

/** Responds like a file server that uses a hash of the bytes as the ETag. */
function serve(bytes: Uint8Array, headers: Record<string, string> = {}): Respond {
  const etag = `"${Bun.hash(bytes)}"`;
  return (request, response) => {
    if (request.headers["if-none-match"] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag, "content-length": bytes.length, ...headers }).end(bytes);
  };
}

function fail(status: number, location = ""): Respond {
  return (_, response) => response.writeHead(status, { location }).end("<secret page>");
}

function cut(bytes: Uint8Array): Respond {
  return (request, response) => {
    response.writeHead(200, { etag: '"cut"', "content-length": bytes.length });
    response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy());
  };
}

/** Sends `first`, then `bytes` over and over until the client closes the connection. */
function endless(bytes: Uint8Array, first = bytes): Respond {
  return (_, response) => {
    response.writeHead(200, { etag: '"endless"' });
    const more = () => {
      while (!response.destroyed && response.write(bytes));
    };
    response.on("drain", more);
    response.write(first);
    more();
  };
}

function flip(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1] = (copy[copy.length >> 1] ?? 0) ^ 1;
  return copy;
}

const locate = (url: string): RemoteLocation => parseWebLocation(url) ?? expect.unreachable(url);

async function open(
  more: Partial<RemoteOptions> = {},
): Promise<RemoteSnapshot & { events: string[] }> {
  const events: string[] = [];
  const remote = await openRemoteSnapshot({
    location: locate(`${origin}/community.snapshot`),
    folder: temporaryFolder(),
    timeoutMs: 20_000,
    onDown: (reason) => events.push(reason),
    onUp: () => events.push("up"),
    onUnlocked: (reason) => events.push(`unlocked: ${reason}`),
    ...more,
  });
  return Object.assign(remote, { events });
}

async function usersIn({ path }: RemoteSnapshot): Promise<number> {
  return (await checkSnapshot(path)).counts.users - 3;
}

test("the snapshot is downloaded at startup, and again after it changes, even to an older one", async () => {
  const remote = await open();
  expect(await usersIn(remote)).toBe(2);
  await remote.refresh();
  respond = serve(second);
  await remote.refresh();
  expect(await usersIn(remote)).toBe(3);
  respond = serve(first);
  await remote.refresh();
  expect(await usersIn(remote)).toBe(2);
  const older = `"${Bun.hash(first)}"`;
  const newer = `"${Bun.hash(second)}"`;
  expect(requests).toEqual([undefined, older, older, newer]);
  const { error, last_success, url } = remote.status();
  expect([error, url]).toEqual([null, `${origin}/community.snapshot`]);
  expect(last_success).toStartWith("20");
  expect(remote.events).toEqual([]);
});

test.each<[string, (path: string) => void]>([
  ["deleted", (path) => rmSync(path)],
  ["truncated", (path) => truncateSync(path, 40_000)],
])("a copy that was %s is downloaded again from an unchanged source", async (_, lose) => {
  const remote = await open();
  lose(remote.path);
  await remote.refresh();
  expect(await usersIn(remote)).toBe(2);
  expect(requests).toEqual([undefined, undefined]);
  await remote.refresh();
  expect(requests[2]).toBe(`"${Bun.hash(first)}"`);
  expect(remote.events).toEqual([]);
});

test.each<[string, (bytes: Buffer) => Buffer]>([
  ["a flipped bit", flip],
  ["an end that is missing", (bytes) => bytes.subarray(0, 40_000)],
])("a transfer with %s is repeated, although the ETag has not changed", async (_, damage) => {
  for (const hasCopy of [true, false]) {
    const remote = await open();
    if (!hasCopy) rmSync(remote.path);
    const headers = { etag: `"${Bun.hash(second)}"` };
    // Without a length, a client cannot notice that the end is missing.
    respond = (_request, response) => response.writeHead(200, headers).end(damage(second));
    await remote.refresh();
    expect(remote.refused()).toStartWith("is damaged: ");

    respond = serve(second);
    await remote.refresh();
    expect(await usersIn(remote)).toBe(3);
    expect(remote.refused()).toBeUndefined();
    await remote.refresh();
    expect(requests.splice(0).slice(-2)).toEqual([undefined, `"${Bun.hash(second)}"`]);
  }
});

test("every three minutes, or if forced, a source must show that nothing has changed", async () => {
  let now = 0;
  using clock = spyOn(performance, "now");
  clock.mockImplementation(() => now);
  const remote = await open();
  // The ETag of both snapshots is the same, as if nginx sent two of one size from one second.
  const etag = `"${Bun.hash(first)}"`;
  respond = (request, response) => {
    if (request.headers["if-none-match"] === etag) response.writeHead(304).end();
    else serve(second, { etag })(request, response);
  };
  now += 179_999;
  await remote.refresh();
  expect(await usersIn(remote)).toBe(2);
  now += 1;
  await remote.refresh();
  expect(await usersIn(remote)).toBe(3);
  await remote.refresh();
  await remote.refresh(true);
  expect(requests).toEqual([undefined, etag, undefined, etag, undefined]);
});

describe("the local copy is kept, and the failure is reported once, after", () => {
  test.each<[string, () => Respond, RegExp]>([
    ["an interrupted body", () => cut(second), /^stopped sending: the connection was closed$/],
    [
      "half of the bytes",
      () => serve(second.subarray(0, 40_000)),
      /^is damaged: it has \d+ bytes instead of \d+/,
    ],
    ["a flipped bit", () => serve(flip(second)), /^is damaged: its checksum does not match$/],
    ["no bytes", () => serve(Buffer.alloc(0)), /^is empty$/],
    ["an endless HTML page", () => endless(Buffer.from("<p>".repeat(999))), /^is not a Roadbook/],
    ["an endless body", () => endless(Buffer.alloc(2 ** 20), second), /^is damaged: it has more/],
    ["a 204 response", () => fail(204), /^responded with 204$/],
    ["a 206 response", () => fail(206), /^responded with 206$/],
    ["a redirect to a file", () => fail(302, "file:///etc/passwd"), /^cannot be reached: /],
  ])("%s", async (_, bad, reason) => {
    const remote = await open();
    const before = readFileSync(remote.path);
    respond = bad();
    for (let times = 0; times < 2; times++) await remote.refresh();
    expect(remote.events).toEqual([expect.stringMatching(reason)]);
    const { error } = remote.status();
    expect(error).toMatch(reason);
    const refused = error?.startsWith("is ") ? error : undefined;
    expect(remote.refused()).toBe(refused);
    expect(readFileSync(remote.path).equals(before)).toBe(true);
    respond = serve(second);
    await remote.refresh();
    expect(remote.events.slice(1)).toEqual(["up"]);
    expect(remote.refused()).toBeUndefined();
    expect(await usersIn(remote)).toBe(3);
  });

  test("a download that takes too long", async () => {
    const folder = temporaryFolder();
    await open({ folder });
    respond = (_, response) => {
      response.writeHead(200, { "content-length": second.length });
      response.write(second.subarray(0, 1000));
    };
    const remote = await open({ folder, timeoutMs: 200 });
    expect(remote.status()).toMatchObject({ error: null, last_success: null });
    await until(() => remote.events.length > 0);
    // On a busy machine, even the head may be late.
    const reason = expect.stringMatching(
      /^(stopped sending|cannot be reached): timed out after 0.2 s$/,
    );
    expect(remote.events).toEqual([reason]);
    expect(remote.status()).toMatchObject({ error: reason });
    expect(await usersIn(remote)).toBe(2);
    web.closeAllConnections();
  });
});

test("a download may take longer than the limit if it makes progress", async () => {
  respond = async (_, response) => {
    response.writeHead(200, { "content-length": second.length });
    for (let at = 0; at < second.length; at += second.length / 5) {
      response.write(second.subarray(at, at + second.length / 5));
      await Bun.sleep(250);
    }
    response.end();
  };
  expect(await usersIn(await open({ timeoutMs: 1000 }))).toBe(3);
});

test("user name and password are sent to the source alone, and never shown", async () => {
  const authorizations: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    serve(first)(request, response);
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  respond = (request, response) => {
    authorizations.push(request.headers.authorization);
    const isFirst = request.url?.startsWith("/community.snapshot");
    const { port } = other.address() as AddressInfo;
    const location = isFirst ? "/elsewhere" : `http://anna:secret@127.0.0.1:${port}/x`;
    response.writeHead(302, { location }).end();
  };
  const url = new URL(`${origin}/community.snapshot?token=secret`);
  url.username = "anna";
  url.password = "sécret:%";
  const remote = await open({ location: locate(url.href) });
  expect(await usersIn(remote)).toBe(2);
  const sent = `Basic ${Buffer.from("anna:sécret:%").toString("base64")}`;
  expect(authorizations).toEqual([sent, sent, undefined]);
  other.close();
  respond = fail(500);
  await remote.refresh();
  expect(JSON.stringify([remote.status(), remote.events])).not.toMatch(/anna|s.cret|token/);
});

describe("with a local copy from an earlier process", () => {
  test("a start succeeds even if the source is down", async () => {
    const folder = temporaryFolder();
    await open({ folder });
    respond = fail(503);
    const remote = await open({ folder });
    expect(remote.events).toEqual(["responded with 503"]);
    expect(await usersIn(remote)).toBe(2);
    expect(remote.status().last_success).toBeNull();
    respond = serve(second);
    await remote.refresh();
    expect(await usersIn(remote)).toBe(3);
  });

  test("only a source with the same query finds the copy, whatever its password", async () => {
    const folder = temporaryFolder();
    const { host } = new URL(origin);
    const openAt = (user: string, community: string) => {
      const url = `http://${user}@${host}/community.snapshot?c=${community}`;
      return open({ folder, location: locate(url) });
    };
    const { path } = await openAt("anna:old", "a");
    respond = fail(503);
    expect((await openAt("anna:new", "a")).path).toBe(path);
    await expect(openAt("anna:new", "b")).rejects.toThrow(
      `${origin}/community.snapshot responded with 503`,
    );
  });

  test("a start does not wait for a slow download, and the download is used later", async () => {
    const folder = temporaryFolder();
    await open({ folder });
    let release = () => {};
    respond = (request, response) => {
      release = () => serve(second)(request, response);
    };
    const remote = await open({ folder, timeoutMs: 3000 });
    expect(await usersIn(remote)).toBe(2);
    release();
    await until(async () => (await usersIn(remote)) === 3);
    expect(remote.events).toEqual([]);
  });

  test("if the local copy is damaged, the snapshot is downloaded again", async () => {
    const folder = temporaryFolder();
    const { path } = await open({ folder });
    writeFileSync(path, flip(first));
    expect(await usersIn(await open({ folder }))).toBe(2);
  });
});

test("a status never contains the path of a cache that cannot be written", async () => {
  const folder = join(temporaryFolder(), "cache");
  const remote = await open({ folder });
  respond = serve(second);
  rmSync(remote.path);
  mkdirSync(remote.path);
  await remote.refresh();
  expect([remote.status().error, remote.refused()]).toEqual(Array(2).fill("cannot be cached"));
  // The operator reads which file it is.
  expect(remote.events).toEqual([`cannot be cached: ${remote.path} is not a regular file`]);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "");
  await remote.refresh();
  expect(remote.refused()).toMatch(/^cannot be cached: file (already )?exists$/);
  expect(JSON.stringify(remote.status())).not.toContain(folder);
  expect(remote.events).toHaveLength(2);
});

test("while another server replaces the copy, no snapshot is refused", async () => {
  const remote = await open();
  respond = serve(second);
  {
    using _lock = lock(join(dirname(remote.path), `.${basename(remote.path)}.lock`));
    // The minute for which a writer waits passes in a twentieth of a second.
    using clock = spyOn(performance, "now");
    clock.mockImplementation(() => (1200 * Bun.nanoseconds()) / 1e6);
    await remote.refresh();
  }
  expect(remote.status().error).toBe("cannot be cached");
  expect(remote.events).toEqual([expect.stringContaining("another command is still writing")]);
  expect(remote.refused()).toBeUndefined();
  await remote.refresh();
  expect(await usersIn(remote)).toBe(3);
});

test("without a local copy, a failing source or cache is an error that contains the URL", async () => {
  respond = (request, response) => fail(Number(request.url?.slice(1, 4)))(request, response);
  for (const [url, error] of [
    [`${origin}/403`, "responded with 403"],
    [`${origin}/304`, "responded with 304"],
    ["http://127.0.0.1:1/x", "cannot be reached: connection refused"],
    ["http://roadbook.invalid/x", "cannot be reached: cannot resolve host name"],
  ] as const) {
    const location = locate(`${url}?token=secret`);
    await expect(open({ location })).rejects.toThrow(new Error(`${url} ${error}`));
  }
  respond = serve(first);
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  const unwritable = open({ folder: join(file, "cache") });
  await expect(unwritable).rejects.toThrow(/^http:\S+ cannot be cached: not a directory$/);
});

test("a copy whose lock cannot be held is served, and the reason is reported", async () => {
  const folder = temporaryFolder();
  const first = await open({ folder });
  first[Symbol.dispose]();
  const lockFile = readdirSync(folder).find((name) => name.endsWith(".in-use.lock")) ?? "";
  writeFileSync(join(folder, lockFile), "of another program");
  const remote = await open({ folder });
  expect(await usersIn(remote)).toBe(2);
  expect(remote.events).toEqual([
    expect.stringMatching(/^unlocked: .* is not a Roadbook lock file/),
  ]);
});

test("the copy of a URL that no server uses any more is removed, and no other file", async () => {
  const folder = temporaryFolder();
  const openAt = (name: string) => open({ folder, location: locate(`${origin}/${name}`) });
  writeFileSync(join(folder, "notes.snapshot"), "of another program");
  const old = await openAt("old");
  const other = await openAt("other");
  const killed = join(dirname(old.path), `.${basename(old.path)}.new-1`);
  mkdirSync(killed);
  writeFileSync(join(killed, "new"), "of a killed download");
  const listCopies = () => readdirSync(folder).filter((name) => !name.endsWith(".lock"));
  expect(listCopies()).toHaveLength(4);

  // Its server has ended.
  old[Symbol.dispose]();
  const next = await openAt("next");
  const kept = [other.path, next.path].map((path) => basename(path));
  expect(listCopies().sort()).toEqual(["notes.snapshot", ...kept].sort());

  // The server of the next one notices it with the next snapshot.
  other[Symbol.dispose]();
  respond = serve(second);
  await next.refresh();
  expect(listCopies().sort()).toEqual(["notes.snapshot", basename(next.path)].sort());
  expect(await usersIn(next)).toBe(3);
});
