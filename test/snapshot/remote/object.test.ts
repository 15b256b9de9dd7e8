/** Conditional writes to an object store: concurrent writers never lose each other's changes. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { importDataset } from "../../../src/snapshot/import/import.ts";
import { parseS3Location, type RemoteLocation } from "../../../src/snapshot/remote/location.ts";
import { replaceCompressed, replaceObject } from "../../../src/snapshot/remote/object.ts";
import { community } from "../../datasets.ts";
import { temporaryFolder } from "../../support.ts";

/** The only object in the store. */
let stored: Buffer | undefined;
const behaviours = ["honours", "ignores", "refuses"] as const;
/** How the store treats the conditions on a PUT. */
let conditions: (typeof behaviours)[number];
/** Which responses have an ETag. */
let etags: { get: boolean; put: boolean };
/** The status of the response to a PUT whose condition is not met. */
let conflict: 409 | 412;
/** Called when a PUT has been received, before its condition is checked. */
let beforePut: () => void;
/** Called when the object from a PUT has been stored, before the response is sent. */
let afterPut: () => void;
let isUp: boolean;
/** The If-Match and If-None-Match headers of each PUT. */
let received: (string | null)[][];

const etagOf = (bytes: Buffer | undefined) => bytes && `"${Bun.hash(bytes)}"`;

const store = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (!isUp) return new Response("<Error>secret</Error>", { status: 403 });
    const etag = etagOf(stored);
    if (request.method !== "PUT") {
      if (!stored || !etag) return new Response("", { status: 404 });
      return new Response(new Uint8Array(stored), { headers: etags.get ? { etag } : {} });
    }
    const bytes = Buffer.from(await request.arrayBuffer());
    beforePut();
    const [match, none] = ["if-match", "if-none-match"].map((name) => request.headers.get(name));
    received.push([match ?? null, none ?? null]);
    const isMet = match ? match === etagOf(stored) : none !== "*" || stored === undefined;
    if (conditions === "refuses" && (match ?? none)) return new Response("", { status: 501 });
    if (conditions === "honours" && !isMet) return new Response("", { status: conflict });
    stored = bytes;
    afterPut();
    if (!etags.put) return new Response("");
    return new Response("", { headers: { etag: etagOf(bytes) ?? "" } });
  },
});
afterAll(() => store.stop(true));

beforeEach(() => {
  stored = Buffer.from("old");
  isUp = true;
  received = [];
  conflict = 412;
  conditions = "honours";
  etags = { get: true, put: true };
  beforePut = () => {};
  afterPut = () => {};
});

function locate(text = "s3://community/x.snapshot"): RemoteLocation {
  const endpoint = store.url.origin;
  const location = parseS3Location(text, { accessKeyId: "a", secretAccessKey: "b", endpoint });
  if (!location) throw new Error(text);
  return location;
}

/** Plays the role of a command: reads the old snapshot and writes a new one. */
async function append(path: string): Promise<string> {
  const old = existsSync(path) ? readFileSync(path, "utf8") : "";
  writeFileSync(path, `${old} and new`);
  return old;
}

/** Plays the role of a second command that replaces the object. */
const putOther = () => {
  stored = Buffer.from("other");
};

test("an object is changed through a temporary file, which is removed afterwards", async () => {
  let path = "";
  const old = await replaceObject(locate(), (file) => {
    path = file;
    return append(file);
  });
  expect([old, stored?.toString()]).toEqual(["old", "old and new"]);
  expect(existsSync(join(path, ".."))).toBe(false);
});

test("an object that does not exist is created", async () => {
  stored = undefined;
  await replaceObject(locate(), append);
  expect(stored as unknown as Buffer).toEqual(Buffer.from(" and new"));
});

test("an object whose name ends in .zst is stored compressed", async () => {
  stored = zstdCompressSync("old");
  await replaceObject(locate("s3://community/x.snapshot.zst"), append);
  expect(zstdDecompressSync(stored ?? "").toString()).toBe("old and new");
});

describe("in a store that honours conditions", () => {
  test("a PUT requires the ETag that was read, or that there is still no object", async () => {
    await replaceObject(locate(), append);
    stored = undefined;
    await replaceObject(locate(), append);
    expect(received).toEqual([
      [etagOf(Buffer.from("old")) ?? "", null],
      [null, "*"],
    ]);
  });

  test.each([409, 412] as const)(
    "a change by another command is not overwritten if the store responds with %d",
    async (status) => {
      conflict = status;
      for (const before of [Buffer.from("old"), undefined]) {
        stored = before;
        const write = (path: string) => {
          putOther();
          return append(path);
        };
        await expect(replaceObject(locate(), write)).rejects.toThrow(
          /^s3:\/\/community\/x.snapshot was changed by another command .* \(with --unconditional/,
        );
        expect(stored as unknown as Buffer).toEqual(Buffer.from("other"));
      }
    },
  );

  test("a change by another command during the PUT is not overwritten", async () => {
    beforePut = putOther;
    await expect(replaceObject(locate(), append)).rejects.toThrow("was changed by another");
    expect(stored?.toString()).toBe("other");
  });

  test("the object contains the changes of all concurrent writers that succeed", async () => {
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

  test("a write succeeds even if the response to the PUT has no ETag", async () => {
    etags.put = false;
    await replaceObject(locate(), append);
    expect(stored?.toString()).toBe("old and new");
  });

  test("a write succeeds even if the store fails right afterwards", async () => {
    afterPut = () => {
      isUp = false;
    };
    await replaceObject(locate(), append);
    expect(stored?.toString()).toBe("old and new");
  });
});

describe("a store without conditional writes", () => {
  const unsupported =
    /^s3:\/\/community\/x.snapshot is in a store without conditional writes \(If-Match\), .*--unconditional$/;

  test("is rejected if it responds to the PUT with 501", async () => {
    conditions = "refuses";
    for (const before of [Buffer.from("old"), undefined]) {
      stored = before;
      await expect(replaceObject(locate(), append)).rejects.toThrow(unsupported);
      expect(stored).toEqual(before);
    }
  });

  test("is rejected if its responses have no ETag", async () => {
    etags.get = false;
    await expect(replaceObject(locate(), append)).rejects.toThrow(unsupported);
    expect([stored?.toString(), received]).toEqual(["old", []]);
  });

  test("is reported if a different object is found right after the PUT", async () => {
    conditions = "ignores";
    afterPut = putOther;
    await expect(replaceObject(locate(), append)).rejects.toThrow(
      /^s3:\/\/community\/x.snapshot was replaced right after it was written, .*--unconditional$/,
    );
  });
});

describe.each(behaviours)("with unconditional set, in a store that %s conditions", (behaviour) => {
  test("a PUT has no condition, whether or not the object exists", async () => {
    conditions = behaviour;
    etags.get = false;
    beforePut = putOther;
    await replaceObject(locate(), append, { unconditional: true });
    expect(stored?.toString()).toBe("old and new");
    stored = undefined;
    await replaceObject(locate(), append, { unconditional: true });
    expect(stored as unknown as Buffer).toEqual(Buffer.from(" and new"));
    expect(received).toEqual([
      [null, null],
      [null, null],
    ]);
  });
});

test("a dry run sends no PUT", async () => {
  expect(await replaceObject(locate(), append, { dryRun: true })).toBe("old");
  expect([stored?.toString(), received]).toEqual(["old", []]);
});

test("an import replaces an object that is not a snapshot only if force is set", async () => {
  const importWith = (force: boolean) =>
    replaceObject(locate(), (path) => importDataset(community, path, { force }), { force });
  for (const bytes of [
    Buffer.from("old"),
    zstdCompressSync("old"),
    zstdCompressSync("old").subarray(0, -3),
  ]) {
    stored = bytes;
    await expect(importWith(false)).rejects.toThrow(
      /s3:\/\/community\/x.snapshot|zstd data is damaged/,
    );
    expect(stored).toBe(bytes);
    await importWith(true);
    expect(stored?.toString("latin1", 0, 15)).toBe("SQLite format 3");
  }
});

test("after an error, the object is unchanged and the message has the object's URL", async () => {
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
  await expect(full).rejects.toThrow("cannot write s3://community/x.snapshot (prepared in /");
  expect(existsSync(folder)).toBe(false);
  isUp = false;
  const denied = replaceObject(locate(), append);
  await expect(denied).rejects.toThrow("s3://community/x.snapshot responded with 403");
  expect(stored?.toString()).toBe("old");
});

test.each(["s3://", "s3://bucket", "s3://bucket/", "s3:///key", "s3://b/k?x", "s3://bucket/k/"])(
  "%s is rejected as the URL of an object",
  (text) => {
    expect(parseS3Location(text, { accessKeyId: "a", secretAccessKey: "b" })).toBeUndefined();
  },
);

test("a colon in the access key ID is encoded in the signed URL", () => {
  const location = parseS3Location("s3://bucket/key", {
    accessKeyId: "a:b/c",
    secretAccessKey: "d",
  });
  expect(location?.prepare("GET").url).toContain("&X-Amz-Credential=a%3Ab%2Fc%2F");
});

test("a compressed file is replaced, and error messages contain the file's path", async () => {
  const path = join(temporaryFolder(), "x.snapshot.zst");
  expect(await replaceCompressed(path, append)).toBe("");
  expect(await replaceCompressed(path, append)).toBe(" and new");
  expect(zstdDecompressSync(readFileSync(path)).toString()).toBe(" and new and new");
  const fails = replaceCompressed(path, async (file) => {
    throw new Error(`${file} is wrong`);
  });
  await expect(fails).rejects.toThrow(`${path} is wrong`);
});
