/** `dataset_sha256` identifies the kept data, but cannot confirm guesses about dropped data. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyChanges } from "../../src/snapshot/import/apply.ts";
import { type ImportOptions, importDataset } from "../../src/snapshot/import/import.ts";
import { checkSnapshot } from "../../src/snapshot/read/check.ts";
import { community, exported, makeSnapshot, textOf, user } from "../datasets.ts";
import { temporaryFolder } from "../support.ts";

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");
const hashOf = async (path: string) => (await checkSnapshot(path)).dataset_sha256;

/** Imports a dataset. Returns the dataset hash and the SHA-256 of the snapshot's export. */
async function importText(text: string, options: ImportOptions = {}) {
  const folder = temporaryFolder();
  const [dataset, path] = [join(folder, "dataset"), join(folder, "snapshot")];
  writeFileSync(dataset, text);
  await importDataset(dataset, path, options);
  return { hash: await hashOf(path), exportHash: sha256(await exported(path)) };
}

const hidden = { type: "user", id: 77, public: false };
/** Lines for the same private user that differ only in formatting and in data that is dropped. */
const secrets = [
  textOf([hidden]),
  textOf([{ ...(user(77, "Evelyn") as object), public: false }]),
  textOf([{ public: false, name: "Mallory", id: 77, type: "user" }]),
  `  {"type":"\\u0075ser" , "id":77.0,"public":false,"avatar_url":null}\t\n`,
];

test("the dataset hash of an imported export is the SHA-256 of the exported file", async () => {
  const text = await exported(await makeSnapshot());
  expect(await importText(text)).toEqual({ hash: sha256(text), exportHash: sha256(text) });
  expect((await importText(text.replace("Nora", "Nola"))).hash).not.toBe(sha256(text));
});

test("imports that differ only in a private user's dropped data have equal hashes", async () => {
  const hashes = await Promise.all(
    secrets.map(async (line) => (await importText(textOf(community) + line)).hash),
  );
  expect(new Set(hashes)).toEqual(new Set([sha256(textOf([...community, hidden]))]));
});

test("changes that differ only in a private user's dropped data give equal hashes", async () => {
  const hashes = await Promise.all(
    secrets.map(async (line) => {
      const path = await makeSnapshot();
      const changes = join(temporaryFolder(), "changes");
      writeFileSync(changes, line);
      await applyChanges(changes, path);
      return hashOf(path);
    }),
  );
  expect(new Set(hashes).size).toBe(1);
  expect(hashes[0]).not.toBe(await hashOf(await makeSnapshot()));
});

describe("the dataset hash of an import with --skip-invalid", () => {
  const importSkipping = (lines: string) =>
    importText(textOf(community) + lines, { skipInvalid: true });

  test.each([
    ["the content of a skipped line", (name: string) => textOf([{ ...hidden, name, nick: name }])],
    [
      "the name of a user whom a later line makes private",
      (name: string) => textOf([user(77, name), hidden]),
    ],
    [
      "the name of a user whom an earlier line makes private",
      (name: string) => textOf([hidden, user(77, name)]),
    ],
    [
      "the name of a user whom a broken line makes private",
      (name: string) => `${textOf([user(77, name)])}{"id":77,"public":false,"name":"${name}"x\n`,
    ],
    [
      "the role in a reference to a missing company",
      (role: string) => textOf([user(77, "Eve", { company: { id: 9, role } })]),
    ],
  ])("does not depend on %s", async (_, lines) => {
    const [a, b] = [await importSkipping(lines("Evelyn")), await importSkipping(lines("Mallory"))];
    expect(a).toEqual(b);
  });

  test("is the hash of the kept lines, or of the export if a later line removed data", async () => {
    const kept = textOf(community);
    expect((await importSkipping("{\n")).hash).toBe(sha256(kept));
    const { hash, exportHash } = await importSkipping(textOf([user(77, "Evelyn"), hidden]));
    expect(hash).toBe(exportHash);
  });
});
