/**
 * A body sent in pieces arrives complete if the client reads it, and is aborted if it does not.
 */
import { expect, test } from "bun:test";
import { createLargeBodies } from "../../src/http/large-bodies.ts";
import { createRoadbook } from "../../src/roadbook.ts";
import { community } from "../datasets.ts";

const LENGTH = 300_000;
const text = (letter: string) => letter.repeat(LENGTH);

function streamOf(body: unknown): ReadableStream<Uint8Array> {
  if (body instanceof ReadableStream) return body;
  throw new Error("not sent in pieces");
}

const read = (body: unknown) => new Response(streamOf(body)).text();

test("a large body is sent unchanged in pieces, and a small body is sent whole", async () => {
  const send = createLargeBodies();
  const mixed = "aż\u{1f69a}".repeat(50_000);
  expect(await read(send(mixed))).toBe(mixed);
  const bytes = Buffer.from(mixed);
  expect(await read(send(bytes))).toBe(mixed);
  expect(bytes.toString()).toBe(mixed);
  for (const body of [null, "", "ż".repeat(49_152), new Uint8Array(98_304), new Blob([mixed])])
    expect(send(body)).not.toBeInstanceOf(ReadableStream);
  for (const body of ["ż".repeat(49_153), new Uint8Array(98_305)])
    expect(send(body)).toBeInstanceOf(ReadableStream);
});

test("if too much is unread, the body that has stalled the longest is aborted", async () => {
  const send = createLargeBodies(3 * LENGTH);
  const [stalled, slow, fast] = ["a", "b", "c"].map((letter) => streamOf(send(text(letter))));
  const reader = slow?.getReader();
  const first = await reader?.read();
  // Because `slow` was read from in the meantime, `stalled` is aborted first and then `fast`.
  const more = [send(text("d")), send(text("e"))];
  await expect(read(stalled)).rejects.toBeUndefined();
  await expect(read(fast)).rejects.toBeUndefined();
  let length = first?.value?.length ?? 0;
  for (let one = await reader?.read(); one && !one.done; one = await reader?.read())
    length += one.value.length;
  expect(length).toBe(LENGTH);
  expect(await Promise.all(more.map(read))).toEqual([text("d"), text("e")]);
});

test("a body that has been read or cancelled frees its memory", async () => {
  const send = createLargeBodies(2 * LENGTH);
  const waiting = send(text("a"));
  for (let times = 0; times < 5; times++) {
    expect(await read(send(text("b")))).toBe(text("b"));
    await streamOf(send(text("c"))).cancel();
  }
  expect(await read(waiting)).toBe(text("a"));
});

test("a single body over the limit is still sent", async () => {
  const send = createLargeBodies(1000);
  expect(await read(send(text("a")))).toBe(text("a"));
});

test("the docs script is read, hashed and decoded only once for all requests", async () => {
  const script = Bun.gzipSync("alert(1)");
  let reads = 0;
  const docsScript = () => {
    reads++;
    return script;
  };
  await using roadbook = await createRoadbook({ dataset: community, docsScript });
  const get = async (headers: Record<string, string>) =>
    roadbook.fetch(new Request("http://a.test/docs/scalar.js", { headers }));
  for (let times = 0; times < 2; times++) {
    const plain = await get({});
    expect(await plain.text()).toBe("alert(1)");
    const coded = await get({ "accept-encoding": "gzip" });
    expect(await coded.bytes()).toEqual(script);
    expect(coded.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const known = { "if-none-match": plain.headers.get("etag") ?? "" };
    expect((await get(known)).status).toBe(304);
  }
  expect(reads).toBe(1);
});
