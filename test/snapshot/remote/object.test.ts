/** Objects in a store, written on condition: of two writers, none loses the change of the other. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Location, parseS3Location } from "../../../src/snapshot/remote/location.ts";
import { replaceCompressed, replaceObject } from "../../../src/snapshot/remote/object.ts";
import { temporaryFolder } from "../../support.ts";

/** One object in a store, and what that does with the conditions of a PUT. */
let stored: Buffer | undefined;
const ways = ["honours", "honours bare", "ignores", "refuses"] as const;
let conditions: (typeof ways)[number];
/** Whether it responds to a PUT with the ETag, and to a HEAD after it. */
let tags: { put: boolean; head: boolean };
/** Happens before the store has read what is put. */
let beforePut: () => void;
/** Happens after the response to what was put. */
let afterPut: () => void;
let isWell: boolean;

const tagOf = (bytes: Buffer | undefined) => bytes && `"${Bun.hash(bytes)}"`;

const store = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (!isWell) return new Response("<Error>secret</Error>", { status: 403 });
    const etag = tagOf(stored);
    if (request.method === "HEAD" && !tags.head) return new Response("");
    if (request.method !== "PUT") {
      return stored && etag
        ? new Response(new Uint8Array(stored), { headers: { etag } })
        : new Response("", { status: 404 });
    }
    const bytes = Buffer.from(await request.arrayBuffer());
    beforePut();
    const [match, none] = ["if-match", "if-none-match"].map((name) => request.headers.get(name));
    const bare = conditions === "honours bare";
    const current = bare ? tagOf(stored)?.replaceAll('"', "") : tagOf(stored);
    const isMet = match ? match === current : none === "*" && stored === undefined;
    if (conditions === "refuses" && (match ?? none)) return new Response("", { status: 501 });
    if ((conditions === "honours" || bare) && !isMet) return new Response("", { status: 412 });
    stored = bytes;
    afterPut();
    if (!tags.put) return new Response("");
    return new Response("", { headers: { etag: tagOf(bytes) ?? "" } });
  },
});
afterAll(() => store.stop(true));

beforeEach(() => {
  stored = Buffer.from("old");
  isWell = true;
  conditions = "honours";
  tags = { put: true, head: true };
  beforePut = () => {};
  afterPut = () => {};
});

function locate(text = "s3://community/x.snapshot"): Location {
  const endpoint = store.url.origin;
  const location = parseS3Location(text, { accessKeyId: "a", secretAccessKey: "b", endpoint });
  if (!location) throw new Error(text);
  return location;
}

/** What a command does: reads what is there, and writes what comes of it. */
async function append(path: string): Promise<string> {
  const old = existsSync(path) ? readFileSync(path, "utf8") : "";
  writeFileSync(path, `${old} and new`);
  return old;
}

const other = () => {
  stored = Buffer.from("other");
};

test("a file stands for the object while it is written, and is gone afterwards", async () => {
  let path = "";
  const old = await replaceObject(locate(), (file) => {
    path = file;
    return append(file);
  });
  expect([old, stored?.toString()]).toEqual(["old", "old and new"]);
  expect(existsSync(join(path, ".."))).toBe(false);
});

test("a new object is put where there is none", async () => {
  stored = undefined;
  await replaceObject(locate(), append);
  expect(stored as unknown as Buffer).toEqual(Buffer.from(" and new"));
});

test("an object whose name ends in .zst is compressed", async () => {
  stored = zstdCompressSync("old");
  await replaceObject(locate("s3://community/x.snapshot.zst"), append);
  expect(zstdDecompressSync(stored ?? "").toString()).toBe("old and new");
});

describe.each(ways)("in a store that %s conditions", (does) => {
  test("what nobody else changes is written", async () => {
    conditions = does;
    await replaceObject(locate(), append);
    expect(stored?.toString()).toBe("old and new");
  });

  test.each<[string, (change: () => void) => (path: string) => Promise<unknown>]>([
    [
      "while it is written here",
      (change) => (path) => {
        change();
        return append(path);
      },
    ],
    [
      "after it is put here",
      (change) => {
        afterPut = change;
        return append;
      },
    ],
  ])("what another puts %s stays, and is an error here", async (_, write) => {
    conditions = does;
    await expect(replaceObject(locate(), write(other))).rejects.toThrow(
      /^s3:\/\/community\/x.snapshot has been (changed|replaced) by another command/,
    );
    expect(stored?.toString()).toBe("other");
  });

  test("a first object that another puts at the same time is not lost", async () => {
    conditions = does;
    stored = undefined;
    const write = (path: string) => {
      other();
      return append(path);
    };
    await expect(replaceObject(locate(), write)).rejects.toThrow("by another command");
    expect(stored as unknown as Buffer).toEqual(Buffer.from("other"));
  });
});

test.each(["honours", "honours bare"] as const)(
  "of several writers at once in a store that %s conditions, those that succeed are in it",
  async (does) => {
    conditions = does;
    const words = ["one", "two", "three", "four"];
    const outcomes = await Promise.allSettled(
      words.map((word) =>
        replaceObject(locate(), async (path) => {
          writeFileSync(path, `${readFileSync(path, "utf8")} ${word}`);
        }),
      ),
    );
    const written = words.filter((_, at) => outcomes[at]?.status === "fulfilled");
    expect(written).not.toBeEmpty();
    expect(stored?.toString().split(" ").toSorted()).toEqual(["old", ...written].toSorted());
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason.message).toContain("by another");
    }
  },
);

describe("in a store that gives no ETag with its response to a PUT", () => {
  beforeEach(() => {
    tags.put = false;
  });

  test("what nobody else changes is written", async () => {
    await replaceObject(locate(), append);
    expect(stored?.toString()).toBe("old and new");
  });

  test("what another puts afterwards is an error here", async () => {
    conditions = "ignores";
    // While this one waits to look at it again.
    afterPut = () => void setTimeout(other, 100);
    await expect(replaceObject(locate(), append)).rejects.toThrow("has been replaced by another");
  });

  test("nor later, an error says that the object is written", async () => {
    afterPut = () => {
      tags.head = false;
    };
    await expect(replaceObject(locate(), append)).rejects.toThrow(
      /^s3:\/\/community\/x.snapshot has been written, but may have been .*: it has no ETag/,
    );
    expect(stored?.toString()).toBe("old and new");
  });
});

test("an object without an ETag is not written", async () => {
  tags.head = false;
  const error = "s3://community/x.snapshot has no ETag, so a change by others would not be noticed";
  await expect(replaceObject(locate(), append)).rejects.toThrow(error);
  expect(stored?.toString()).toBe("old");
});

test("what another puts while this one is on its way stays", async () => {
  beforePut = other;
  await expect(replaceObject(locate(), append)).rejects.toThrow("has been changed by another");
  expect(stored?.toString()).toBe("other");
});

test("what fails leaves the object, and names it and nothing else", async () => {
  const write = async (path: string) => {
    throw new Error(`${path} is wrong`);
  };
  await expect(replaceObject(locate(), write)).rejects.toThrow(
    "s3://community/x.snapshot is wrong",
  );
  let folder = "";
  const full = replaceObject(locate(), async (path) => {
    folder = dirname(path);
    throw new Error(`cannot write ${path}: no space left on device`);
  });
  await expect(full).rejects.toThrow("cannot write s3://community/x.snapshot by way of /");
  expect(existsSync(folder)).toBe(false);
  isWell = false;
  const denied = replaceObject(locate(), append);
  await expect(denied).rejects.toThrow("s3://community/x.snapshot responded with 403");
  expect(stored?.toString()).toBe("old");
});

test.each(["s3://", "s3://bucket", "s3://bucket/", "s3:///key", "s3://b/k?x", "s3://bucket/k/"])(
  "%s is no object",
  (text) => {
    expect(parseS3Location(text, { accessKeyId: "a", secretAccessKey: "b" })).toBeUndefined();
  },
);

test("the id of a key is encoded in what is signed", () => {
  const location = parseS3Location("s3://bucket/key", {
    accessKeyId: "a:b/c",
    secretAccessKey: "d",
  });
  expect(location?.prepare("GET").url).toContain("&X-Amz-Credential=a%3Ab%2Fc%2F");
});

test("a compressed file is replaced under its own name", async () => {
  const path = join(temporaryFolder(), "x.snapshot.zst");
  expect(await replaceCompressed(path, append)).toBe("");
  expect(await replaceCompressed(path, append)).toBe(" and new");
  expect(zstdDecompressSync(readFileSync(path)).toString()).toBe(" and new and new");
  const fails = replaceCompressed(path, async (file) => {
    throw new Error(`${file} is wrong`);
  });
  await expect(fails).rejects.toThrow(`${path} is wrong`);
});
