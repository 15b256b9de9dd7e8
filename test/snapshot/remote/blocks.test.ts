/** A local copy that is updated block by block equals the file at the source, whatever happens. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { seedDataset } from "../../../src/community/community.ts";
import { createRandom } from "../../../src/community/random.ts";
import { applyChanges } from "../../../src/snapshot/import/apply.ts";
import { importDataset } from "../../../src/snapshot/import/import.ts";
import { parseWebLocation } from "../../../src/snapshot/remote/location.ts";
import { openSource } from "../../../src/snapshot/remote/source.ts";
import { bytesOf, makeSnapshot, user } from "../../datasets.ts";
import { temporaryFolder } from "../../support.ts";

interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  isCut?: boolean;
}

/** The file at the source, and the one that replaces it during the next download of blocks. */
let current: Buffer;
let next: Buffer | undefined;
let spoil: (reply: Reply, headers: IncomingHttpHeaders) => Reply | undefined;
/** The sizes of the bodies that were sent. */
let sent: number[] = [];

function reply(headers: IncomingHttpHeaders): Reply {
  const etag = `"${Bun.hash(current)}"`;
  const [empty, total] = [Buffer.alloc(0), current.length];
  if (headers["if-none-match"] === etag) return { status: 304, headers: { etag }, body: empty };
  if (headers["if-match"] && headers["if-match"] !== etag) {
    return { status: 412, headers: {}, body: empty };
  }
  const [, from, last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
  if (from === undefined) return { status: 200, headers: { etag }, body: current };
  const body = current.subarray(Number(from), last ? Number(last) + 1 : total);
  const range = `bytes ${from}-${Number(from) + body.length - 1}/${total}`;
  return body.length === 0
    ? { status: 416, headers: {}, body }
    : { status: 206, headers: { etag, "content-range": range }, body };
}

const web = createServer((request, response) => {
  const { range, "if-match": ifMatch } = request.headers;
  if (ifMatch) [current, next] = [next ?? current, undefined];
  const right = reply(request.headers);
  const { status, headers, body, isCut } = (range && spoil(right, request.headers)) || right;
  sent.push(body.length);
  response.writeHead(status, { ...headers, "content-length": body.length });
  if (isCut) response.write(body.subarray(1), () => request.socket.destroy());
  else response.end(body);
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});
afterAll(() => web.close());

const withHeaders = (right: Reply, headers: object): Reply => ({
  ...right,
  headers: { ...right.headers, ...headers },
});

/** How a source may respond to requests for ranges. */
const faults: Record<string, typeof spoil> = {
  none: () => undefined,
  "cut in the middle": (right) => ({ ...right, isCut: true }),
  "other bytes": (right) => ({ ...right, body: Buffer.from(right.body.map((byte) => byte ^ 1)) }),
  "too many bytes": (right) => ({ ...right, body: Buffer.concat([right.body, right.body]) }),
  "too few bytes": (right) => ({ ...right, body: right.body.subarray(1) }),
  "another range": (right) => withHeaders(right, { "content-range": "bytes 1-9/99" }),
  "a truncated list": ({ headers, ...right }) => {
    const range = headers["content-range"]?.replace(/\d+\/(\d+)/, (_, n) => `${n - 98}/${n - 97}`);
    const body = right.body.subarray(0, -97);
    return withHeaders({ ...right, headers, body }, { "content-range": range });
  },
  "a length of petabytes": (right) =>
    withHeaders(right, { "content-range": "bytes 0-999999999999998/999999999999999" }),
  "a weak ETag": (right) => withHeaders(right, { etag: `W/${right.headers.etag}` }),
  "another ETag": (right) => withHeaders(right, { etag: `"${right.body.length}"` }),
  "an empty ETag": (right) => withHeaders(right, { etag: "" }),
  "no ranges": (_, { range, ...headers }) => reply(headers),
  "a 412 each time": (right, headers) => (headers["if-match"] ? { ...right, status: 412 } : right),
  "a 500": (right) => ({ ...right, status: 500 }),
  "If-Match is ignored": (_, { "if-match": _ignored, ...headers }) => reply(headers),
};

test("200 applies, imports and broken downloads end with the same bytes as whole downloads", async () => {
  const random = createRandom(45);
  const build = (seed: number) => [...seedDataset({ users: 1500, companies: 60, seed })];
  const path = await makeSnapshot(build(1));
  const change = () => {
    const id = 1 + random.below(1500);
    const line = random.pick<object>([
      user(id, `Renamed ${id}`),
      { type: "user", id, public: false },
    ]);
    return applyChanges(bytesOf([line]), path);
  };
  current = readFileSync(path);
  spoil = () => undefined;
  const location = parseWebLocation(origin) ?? expect.unreachable();
  const events: string[] = [];
  const [onDown, onUp] = [(reason: string) => events.push(reason), () => events.push("up")];
  const options = { location, folder: temporaryFolder(), timeoutMs: 20_000, onDown, onUp };
  const source = await openSource(options);
  let partial = 0;
  for (let step = 0; step < 200; step++) {
    const isImport = random.below(10) === 0;
    if (isImport)
      await importDataset(bytesOf(build(step)), path, { allowShrink: true, allowReveal: true });
    else await change();
    current = readFileSync(path);
    if (random.below(4) === 0) {
      await change();
      next = readFileSync(path);
    }
    const fault = random.below(2) === 0 ? "none" : random.pick(Object.keys(faults));
    spoil = faults[fault] ?? expect.unreachable();
    sent = [];
    const isNew = await source.refresh();
    const isSame = readFileSync(source.path).equals(current);
    expect({ step, fault, isNew, isSame, events }).toEqual({
      ...{ step, fault, isNew: true, isSame: true, events: [] },
    });
    if (fault === "none" && !sent.includes(current.length)) partial++;
    next = undefined;
  }
  // An import changes most blocks, and so do some changes, because the snapshot is small.
  expect(partial).toBeGreaterThan(50);
  // A new process does not know the ETag of its copy.
  sent = [];
  await openSource(options);
  expect(sent.reduce((sum, bytes) => sum + bytes)).toBeLessThan(current.length / 10);
});
