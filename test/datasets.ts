/** Datasets as lines, and files made from them, for tests of snapshots. */
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { seedDataset } from "../src/community/community.ts";
import type { DatasetLine } from "../src/domain/dataset.ts";
import type { PublicUserLine } from "../src/domain/model.ts";
import { importDataset } from "../src/import/import.ts";
import { MAX_BYTES_IN_MEMORY } from "../src/snapshot/format/open.ts";
import { exportDataset } from "../src/snapshot/format/records.ts";
import { sealFile } from "../src/snapshot/format/seal.ts";
import type { Snapshot } from "../src/snapshot/read/reload.ts";
import { sqlite } from "../src/sqlite/bun.ts";
import { finish, makeOnce, roadbook, temporaryFolder } from "./support.ts";

export const community: DatasetLine[] = [
  { type: "role", id: 1, name: "Driver", hierarchy: 10 },
  { type: "role", id: 2, name: "Patron", hierarchy: 20 },
  {
    type: "achievement",
    id: 7,
    name: "Night Owl",
    description: "Deliver at night.",
    icon: "night-owl.svg",
    kind: "time",
    tier: 1,
    points: 25,
  },
  { type: "company", id: 3, name: "Baltic Express", member_count: 41 },
  { type: "company", id: 4, name: "Żubr Trans", member_count: 7 },
  user(42, "Łukasz Nowak", { company: { id: 3, role: "Owner" }, roles: [1, 2] }),
  user(44, "Nora Nowak", { company: { id: 3, role: "Driver" } }),
  { type: "user", id: 43, public: false },
];

/** The number of achievements of each user in `longDataset`. */
export const LONG_LIST = 41;

/** Users from id 1, whose achievements fill a response of almost 128 KB, the longest allowed. */
export function longDataset(users: number): DatasetLine[] {
  const ids = Array.from({ length: LONG_LIST }, (_, at) => at + 1);
  const achievement = { kind: "x", icon: "a.svg", tier: 1, points: 1 };
  const long = { name: "Long", description: "\u0001".repeat(500), ...achievement };
  const achievements = ids.map((id) => ({ id, tier: 1, unlocked_at: "2024-03-09T17:05:00Z" }));
  return [
    ...ids.map((id) => ({ type: "achievement" as const, id, ...long })),
    ...Array.from({ length: users }, (_, at) => user(at + 1, "Nowak", { achievements })),
  ];
}

/** A public user's line. Fields in `more` are added to the defaults or replace them. */
export function user(id: number, name: string, more: object = {}): PublicUserLine {
  return {
    type: "user",
    id,
    public: true,
    name,
    avatar_url: `https://avatars.example/${id}.png`,
    created_at: "2021-05-01T10:00:00Z",
    ...more,
  };
}

export function textOf(lines: Iterable<object>): string {
  return Array.from(lines, (line) => `${JSON.stringify(line)}\n`).join("");
}

export async function* bytesOf(lines: Iterable<object>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(textOf(lines));
}

export async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/**
 * Makes a snapshot of lines, or of a file, in a new folder, without starting a process. Returns the
 * snapshot's path.
 */
export async function makeSnapshot(from: Iterable<object> | string = community): Promise<string> {
  const path = join(temporaryFolder(), "snapshot");
  const dataset = typeof from === "string" ? from : bytesOf(from);
  await importDataset(dataset, path);
  return path;
}

/** Runs SQL on a snapshot and then gives the file a correct checksum. */
export async function runSql(path: string, sql: string): Promise<void> {
  const client = sqlite.openWritable(path).$client;
  client.exec(sql);
  client.close();
  await sealFile(path);
}

/** Writes lines to a file in a new folder. Returns the file's path. */
export function makeFile(lines: Iterable<object>): string {
  const path = join(temporaryFolder(), "lines.ndjson");
  writeFileSync(path, textOf(lines));
  return path;
}

/** Makes the dataset and the snapshot of a made-up community. */
export async function makeSeeded(users: number, seed = 1) {
  const lines = [...seedDataset({ users, companies: Math.ceil(users / 25), seed })];
  return { dataset: makeFile(lines), snapshot: await makeSnapshot(lines) };
}

/** Copies a snapshot that is too large for memory. The original is made only once per test run. */
export async function makeLarge(users = 5000): Promise<string> {
  const made = await makeOnce(`large-${users}`, async (folder) => {
    const avatar_url = `/${"a".repeat(2000)}`;
    const lines = [...seedDataset({ users, companies: 200, seed: 1 })].map((line) =>
      "avatar_url" in line ? { ...line, avatar_url } : line,
    );
    const snapshot = await makeSnapshot(lines);
    if (statSync(snapshot).size <= MAX_BYTES_IN_MEMORY)
      throw new Error("the snapshot is small enough for memory");
    renameSync(snapshot, join(folder, "snapshot"));
  });
  const copy = join(temporaryFolder(), "snapshot");
  copyFileSync(join(made, "snapshot"), copy);
  return copy;
}

/** Runs the executable, which must succeed, and returns its standard output. */
export async function succeed(words: string[]): Promise<string> {
  const { code, stdout, stderr } = await roadbook(words);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** Returns a snapshot's responses to a sample of requests. */
export function responsesOf({ users, search }: Snapshot, queries: readonly string[]) {
  const profiles = Array.from({ length: 400 }, (_, id) => [
    users.findProfile(id),
    String(users.findAchievements(id)),
  ]);
  const found = queries.map((query) => [
    finish(search.listUsers(query)),
    finish(search.listCompanies(query)),
  ]);
  return { profiles, found };
}

export async function exported(path: string): Promise<string> {
  return [...(await exportDataset(path))].map((line) => `${line}\n`).join("");
}

/** Lists the files in the folder of `path`, except for the lock file, which is never removed. */
export function listBeside(path: string): string[] {
  const lock = `.${basename(path)}.lock`;
  return readdirSync(dirname(path))
    .filter((name) => name !== lock)
    .sort();
}

/** Returns the same list as `listBeside`, plus a hash of the file at `path`. */
export function stateOf(path: string): { beside: string[]; bytes: string } {
  return { beside: listBeside(path), bytes: Bun.hash(readFileSync(path)).toString(16) };
}
