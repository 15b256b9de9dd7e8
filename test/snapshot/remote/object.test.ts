/** Objects in a store, written on condition: of two writers, neither loses the change of the other. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { importDataset } from "../../../src/snapshot/build/import.ts";
import { type Location, parseS3Location } from "../../../src/snapshot/remote/location.ts";
import { replaceCompressed, replaceObject } from "../../../src/snapshot/remote/object.ts";
import { community } from "../../datasets.ts";
import { temporaryFolder } from "../../support.ts";

/** One object in a store, and what that does with the conditions of a PUT. */
let stored: Buffer | undefined;
const ways = ["honours", "ignores", "refuses"] as const;
let conditions: (typeof ways)[number];
/** Whether it responds to a GET or a PUT with the ETag. */
let tags: { get: boolean; put: boolean };
/** The status of a PUT whose condition is not met. */
let conflict: 409 | 412;
/** Happens before the store has read what is put. */
let beforePut: () => void;
/** Happens after the response to what was put. */
let afterPut: () => void;
let isWell: boolean;
/** The conditions of each PUT. */
let asked: (string | null)[][];

const tagOf = (bytes: Buffer | undefined) => bytes && `"${Bun.hash(bytes)}"`;

const store = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (!isWell) return new Response("<Error>secret</Error>", { status: 403 });
    const etag = tagOf(stored);
    if (request.method !== "PUT") {
      if (!stored || !etag) return new Response("", { status: 404 });
      return new Response(new Uint8Array(stored), { headers: tags.get ? { etag } : {} });
    }
    const bytes = Buffer.from(await request.arrayBuffer());
    beforePut();
    const [match, none] = ["if-match", "if-none-match"].map((name) => request.headers.get(name));
    asked.push([match ?? null, none ?? null]);
    const isMet = match ? match === tagOf(stored) : none !== "*" || stored === undefined;
    if (conditions === "refuses" && (match ?? none)) return new Response("", { status: 501 });
    if (conditions === "honours" && !isMet) return new Response("", { status: conflict });
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
  asked = [];
  conflict = 412;
  conditions = "honours";
  tags = { get: true, put: true };
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

describe("in a store that honours conditions", () => {
  test("what was read is the condition, or that there was nothing", async () => {
    await replaceObject(locate(), append);
    stored = undefined;
    await replaceObject(locate(), append);
    expect(asked).toEqual([
      [tagOf(Buffer.from("old")) ?? "", null],
      [null, "*"],
    ]);
  });

  test.each([409, 412] as const)("what another puts meanwhile stays: %d", async (status) => {
    conflict = status;
    for (const before of [Buffer.from("old"), undefined]) {
      stored = before;
      const write = (path: string) => {
        other();
        return append(path);
      };
      await expect(replaceObject(locate(), write)).rejects.toThrow(
        /^s3:\/\/community\/x.snapshot has been changed by another command meanwhile, so nothing was written: run this one again, with --unconditional/,
      );
      expect(stored as unknown as Buffer).toEqual(Buffer.from("other"));
    }
  });

  test("what another puts while this one is on its way stays", async () => {
    beforePut = other;
    await expect(replaceObject(locate(), append)).rejects.toThrow("has been changed by another");
    expect(stored?.toString()).toBe("other");
  });

  test("of several writers at once, those that succeed are in it", async () => {
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
  });

  test("a response to a PUT needs no ETag", async () => {
    tags.put = false;
    await replaceObject(locate(), append);
    expect(stored?.toString()).toBe("old and new");
  });

  test("what is written is no failure when the store cannot be asked again", async () => {
    afterPut = () => {
      isWell = false;
    };
    await replaceObject(locate(), append);
    expect(stored?.toString()).toBe("old and new");
  });
});

describe("a store without conditional writes", () => {
  const unsupported =
    /^s3:\/\/community\/x.snapshot is in a store without conditional writes \(If-Match\), .*--unconditional$/;

  test("is refused when it says so", async () => {
    conditions = "refuses";
    for (const before of [Buffer.from("old"), undefined]) {
      stored = before;
      await expect(replaceObject(locate(), append)).rejects.toThrow(unsupported);
      expect(stored).toEqual(before);
    }
  });

  test("is refused when it gives no ETag", async () => {
    tags.get = false;
    await expect(replaceObject(locate(), append)).rejects.toThrow(unsupported);
    expect([stored?.toString(), asked]).toEqual(["old", []]);
  });

  test("is reported when another object is there right after the PUT", async () => {
    conditions = "ignores";
    afterPut = other;
    await expect(replaceObject(locate(), append)).rejects.toThrow(
      /^s3:\/\/community\/x.snapshot was replaced right after it was written, .*--unconditional$/,
    );
  });
});

describe.each(ways)("unconditionally, in a store that %s conditions", (does) => {
  test("a PUT has no condition, whatever is there", async () => {
    conditions = does;
    tags.get = false;
    beforePut = other;
    await replaceObject(locate(), append, { unconditional: true });
    expect(stored?.toString()).toBe("old and new");
    stored = undefined;
    await replaceObject(locate(), append, { unconditional: true });
    expect(stored as unknown as Buffer).toEqual(Buffer.from(" and new"));
    expect(asked).toEqual([
      [null, null],
      [null, null],
    ]);
  });
});

test("a dry run puts nothing", async () => {
  expect(await replaceObject(locate(), append, { dryRun: true })).toBe("old");
  expect([stored?.toString(), asked]).toEqual(["old", []]);
});

test("an import replaces an object that is no snapshot only with force", async () => {
  const imports = (force: boolean) =>
    replaceObject(locate(), (path) => importDataset(community, path, { force }), { force });
  for (const bytes of [
    Buffer.from("old"),
    zstdCompressSync("old"),
    zstdCompressSync("old").subarray(0, -3),
  ]) {
    stored = bytes;
    await expect(imports(false)).rejects.toThrow(
      /s3:\/\/community\/x.snapshot|zstd data is damaged/,
    );
    expect(stored).toBe(bytes);
    await imports(true);
    expect(stored?.toString("latin1", 0, 15)).toBe("SQLite format 3");
  }
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
