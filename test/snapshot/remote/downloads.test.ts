/** A local copy that is updated block by block equals the file at the source, whatever happens. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { seedDataset } from "../../../src/community/community.ts";
import { Random } from "../../../src/domain/random.ts";
import { applyChanges } from "../../../src/import/apply.ts";
import { importDataset } from "../../../src/import/import.ts";
import { parseWebLocation } from "../../../src/snapshot/remote/location.ts";
import { openRemoteSnapshot } from "../../../src/snapshot/remote/remote-snapshot.ts";
import { bytesOf, makeSnapshot, user } from "../../datasets.ts";
import { temporaryFolder } from "../../support.ts";

type Headers = Record<string, string>;
interface Reply {
  status: number;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

/** The file at the source, and the one that replaces it during the next download of blocks. */
let current = new Uint8Array();
let next = new Uint8Array();
let spoil: (reply: Reply, headers: Headers) => Reply = (right) => right;
/** The sizes of the bodies that were sent. */
let sent: number[] = [];

function reply(headers: Headers): Reply {
  const etag = `"${Bun.hash(current)}"`;
  const body = new Uint8Array();
  if (headers["if-none-match"] === etag) return { status: 304, headers: { etag }, body };
  if ((headers["if-match"] ?? etag) !== etag) return { status: 412, headers: {}, body };
  const [, from = 0, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "")?.map(Number) ?? [];
  if (to === undefined) return { status: 200, headers: { etag }, body: current };
  const part = current.slice(from, to === 0 ? current.length : to + 1);
  const range = `bytes ${from}-${from + part.length - 1}/${current.length}`;
  if (part.length === 0) return { status: 416, headers: {}, body };
  return { status: 206, headers: { etag, "content-range": range }, body: part };
}

const web = Bun.serve({
  port: 0,
  fetch(request) {
    const asked = request.headers.toJSON();
    if (asked["if-match"] && next.length > 0) [current, next] = [next, new Uint8Array()];
    const right = reply(asked);
    const { status, headers, body } = asked.range ? spoil(right, asked) : right;
    sent.push(body.length);
    return new Response(status === 304 ? null : body, { status, headers });
  },
});
afterAll(() => web.stop(true));

function replace(replaced: Headers): typeof spoil {
  return (right) => ({ ...right, headers: { ...right.headers, ...replaced } });
}

/** How a source may respond to requests for ranges. */
const faults: Record<string, typeof spoil> = {
  none: (right) => right,
  "a body that is cut off": (right) => ({ ...right, body: right.body.slice(1) }),
  "a longer body": (right) => ({ ...right, body: Buffer.concat([right.body, right.body]) }),
  "other bytes": (right) => ({ ...right, body: right.body.map((byte) => byte ^ 1) }),
  "another range": replace({ "content-range": "bytes 1-9/99" }),
  petabytes: replace({ "content-range": "bytes 0-999999999999998/999999999999999" }),
  "a truncated list": ({ headers, body, ...right }) => {
    const cut = (_: string, total: number) => `${total - 98}/${total - 97}`;
    const range = `${headers["content-range"]?.replace(/\d+\/(\d+)/, cut)}`;
    return { ...right, headers: { ...headers, "content-range": range }, body: body.slice(0, -97) };
  },
  "a weak ETag": replace({ etag: 'W/"1"' }),
  "no ETag": replace({ etag: "" }),
  "no ranges": (_, { range, ...asked }) => reply(asked),
  "another ETag each time": (right, asked) =>
    asked["if-match"] ? replace({ etag: '"other"' })(right, asked) : right,
  "a 500": (right) => ({ ...right, status: 500 }),
  "If-Match is ignored": (_, { "if-match": _ignored, ...asked }) => reply(asked),
};

test("80 applies, imports and broken downloads end with the same bytes as whole downloads", async () => {
  const random = new Random(45);
  const build = (seed: number) => [...seedDataset({ users: 1500, companies: 60, seed })];
  const path = await makeSnapshot(build(1));
  const change = () => {
    const id = 1 + random.below(1500);
    const hidden = { type: "user", id, public: false };
    return applyChanges(bytesOf([random.chance(0.5) ? hidden : user(id, `Renamed ${id}`)]), path);
  };
  current = new Uint8Array(readFileSync(path));
  const location = parseWebLocation(web.url.href) ?? expect.unreachable();
  const events: string[] = [];
  const onDown = (reason: string) => events.push(reason);
  const onUp = () => events.push("up");
  const options = {
    location,
    folder: temporaryFolder(),
    timeoutMs: 20_000,
    onDown,
    onUp,
    onUnlocked() {},
  };
  const remote = await openRemoteSnapshot(options);
  let partial = 0;
  for (let step = 0; step < 80; step++) {
    const imported = { allowShrink: true, allowReveal: true, allowRenames: true };
    if (random.chance(0.1)) await importDataset(bytesOf(build(step)), path, imported);
    else await change();
    current = new Uint8Array(readFileSync(path));
    if (random.chance(0.25)) {
      await change();
      next = new Uint8Array(readFileSync(path));
    }
    const fault = random.chance(0.5) ? "none" : random.pick(Object.keys(faults));
    spoil = faults[fault] ?? expect.unreachable();
    sent = [];
    await remote.refresh();
    const isSame = readFileSync(remote.path).equals(current);
    expect({ step, fault, isSame, events }).toEqual({ step, fault, isSame: true, events: [] });
    if (fault === "none" && !sent.includes(current.length)) partial++;
    next = new Uint8Array();
  }
  // An import changes most blocks, and so do some changes, because the snapshot is small.
  expect(partial).toBeGreaterThan(15);
  // A new process does not know the ETag of its copy.
  sent = [];
  spoil = (right) => right;
  await openRemoteSnapshot(options);
  expect(sent.reduce((sum, bytes) => sum + bytes)).toBeLessThan(current.length / 10);
  // Neither does one whose source sends none.
  sent = [];
  spoil = faults["no ETag"] ?? expect.unreachable();
  await remote.refresh();
  expect(sent.reduce((sum, bytes) => sum + bytes)).toBeLessThan(current.length / 10);
});

test("an error of the cache ends a download of blocks, without a request for the whole file", async () => {
  const path = await makeSnapshot([...seedDataset({ users: 1500, companies: 60, seed: 1 })]);
  current = new Uint8Array(readFileSync(path));
  spoil = (right) => right;
  const folder = temporaryFolder();
  const location = parseWebLocation(web.url.href) ?? expect.unreachable();
  const details: string[] = [];
  const onDown = (detail: string) => void details.push(detail);
  const options = { location, folder, timeoutMs: 20_000, onDown, onUp() {}, onUnlocked() {} };
  using remote = await openRemoteSnapshot(options);

  await applyChanges(bytesOf([user(1, "Renamed")]), path);
  current = new Uint8Array(readFileSync(path));
  const lock = join(folder, `.${basename(remote.path)}.lock`);
  rmSync(lock, { force: true });
  mkdirSync(lock);
  sent = [];
  await remote.refresh();
  expect(remote.refused()).toStartWith("cannot be cached: ");
  expect(remote.refused()).not.toContain(folder);
  expect(details).toEqual([expect.stringContaining(remote.path)]);
  expect(sent).toHaveLength(1);

  rmSync(lock, { recursive: true });
  await remote.refresh();
  expect([remote.refused(), readFileSync(remote.path).equals(current)]).toEqual([undefined, true]);
});
