/** Bun's SQLite and better-sqlite3 return the same results from a snapshot. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { and, count, eq, gt, sql } from "drizzle-orm";
import { demoSnapshot } from "../../src/roadbook.ts";
import { parseHeader } from "../../src/snapshot/format/layout.ts";
import { user } from "../../src/snapshot/format/schema.ts";
import { snapshotOf } from "../../src/snapshot/read/reload.ts";
import { sqlite as bunSqlite } from "../../src/sqlite/bun.ts";
import { type Database, prepareText } from "../../src/sqlite/driver.ts";
import { sqlite as nodeSqlite } from "../../src/sqlite/node.ts";
import { responsesOf } from "../datasets.ts";
import { temporaryFolder } from "../support.ts";

const queries = 'an,ба,東京,nowak lukasz,xx,a b,express,ß,[n,er in,",zzzzzz'.split(",");

const open = (db: Database) => snapshotOf({ db, sha256: "", [Symbol.dispose]() {} });

function mapped(db: Database): Database {
  db.$client.exec("PRAGMA mmap_size = 1000000000");
  return db;
}

test("Bun's SQLite and better-sqlite3 agree on a file, mapped or not, and on bytes", async () => {
  // The file name contains characters that have a special meaning in a URI.
  const path = join(temporaryFolder(), "snap shot#1?é%41.db");
  const bytes = await demoSnapshot();
  await Bun.write(path, bytes);
  const database = bytes.subarray(0, parseHeader(bytes).databaseBytes);
  const snapshots = [bunSqlite, nodeSqlite].flatMap((driver) => [
    open(driver.openImmutable(path)),
    open(mapped(driver.openImmutable(path))),
    open(driver.openBytes(database)),
  ]);
  const results = snapshots.map((one) => [one.meta, responsesOf(one, queries)]);
  const [first, ...others]: unknown[] = results;
  expect(JSON.stringify(first)).toContain("Łukasz Nowak");
  for (const other of others) expect(other).toEqual(first);
  for (const snapshot of snapshots) snapshot.close();
});

const drivers = [
  ["Bun's SQLite", bunSqlite],
  ["better-sqlite3", nodeSqlite],
] as const;

test.each(drivers)("%s can write rows while it iterates over other rows", (_, driver) => {
  const client = driver.openWritable(join(temporaryFolder(), "db")).$client;
  client.exec("CREATE TABLE one (id INTEGER); CREATE TABLE other (id INTEGER)");
  client.exec("INSERT INTO one VALUES (1), (2), (3)");
  const insert = client.prepare("INSERT INTO other VALUES (?)");
  for (const { id } of client.prepare<{ id: number }>("SELECT id FROM one").iterate())
    insert.run(id);
  expect(client.prepare("SELECT id FROM other").all()).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  client.close();
});

test("a prepared text takes its values by name, whatever their order in the text", () => {
  const db = bunSqlite.openMemory();
  db.$client.exec("CREATE TABLE user (id INTEGER, name TEXT)");
  db.$client.exec("INSERT INTO user VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Ann'), (4, 'Ann')");
  const isNext = and(gt(user.id, sql.placeholder("after")), eq(user.name, "Ann"));
  const { id, name } = user;
  const users = db.select({ id, name }).from(user).where(isNext).limit(sql.placeholder("limit"));
  const statement = prepareText(db, users);
  expect(statement.all({ limit: 1, after: 2 })).toEqual([{ id: 3, name: "Ann" }]);
  expect([...statement.iterate({ limit: 2, after: 0 })].map(({ id }) => id)).toEqual([1, 3]);
  expect(statement.get({ limit: 1, after: 4 })).toBeUndefined();
  expect(() => statement.get({ after: 4 })).toThrow('placeholder "limit"');
  db.$client.close();
});

test("a text whose rows would lack a field is not prepared", () => {
  const db = bunSqlite.openMemory();
  const { id, name } = user;
  const renamed = db.select({ id, title: name }).from(user);
  expect(() => prepareText(db, renamed)).toThrow("the field title is not named as its column");
  const counted = db.select({ count: count() }).from(user);
  expect(() => prepareText(db, counted)).toThrow("the field count is not named as its column");
  db.$client.close();
});
