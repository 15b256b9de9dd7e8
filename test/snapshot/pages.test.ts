/** What is cleared of a page is what no row uses, and nothing else. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clearUnused, parseHeader } from "../../src/snapshot/format/pages.ts";
import { temporaryFolder } from "../support.ts";

test.each([
  [512, "NONE"],
  [512, "FULL"],
  [4096, "FULL"],
  [65_536, "NONE"],
])("pages of %i bytes, auto_vacuum %s, keep their rows and lose all else", (pageSize, vacuum) => {
  const path = join(temporaryFolder(), "file");
  const db = new Database(path, { create: true });
  db.run(`PRAGMA page_size = ${pageSize}`);
  db.run(`PRAGMA auto_vacuum = ${vacuum}`);
  db.run("CREATE TABLE thing (id INTEGER PRIMARY KEY, text TEXT)");
  db.run("CREATE TABLE word (text TEXT PRIMARY KEY) WITHOUT ROWID");
  const texts = Array.from({ length: 4000 }, (_, index) => {
    const text = `<${((index * 7919) % 4000).toString().padStart(5, "0")}>`;
    return text.repeat(1 + (index % 9) + (index % 500 === 0 ? 200 : 0));
  });
  const addThing = db.query("INSERT INTO thing VALUES (?, ?)");
  const addWord = db.query("INSERT INTO word VALUES (?)");
  db.transaction(() => {
    for (const [index, text] of texts.entries()) {
      addThing.run((index * 7919) % 4000, text);
      addWord.run(text);
    }
    db.run("DELETE FROM thing WHERE id % 3 = 0");
    db.run("DELETE FROM word WHERE text IN (SELECT text FROM word LIMIT 1500)");
  })();
  const rowsOf = (database: Database) =>
    ["thing", "word"].map((table) => database.query(`SELECT * FROM ${table}`).all());
  const before = rowsOf(db);
  db.close(true);

  const bytes = readFileSync(path);
  const header = parseHeader(bytes);
  if (!header) throw new Error("no header");
  const clear = () =>
    Array.from({ length: header.pageCount }, (_, page) =>
      clearUnused(bytes.subarray(page * pageSize, (page + 1) * pageSize), page + 1, header),
    );
  expect(clear()).toContain(true);
  expect(clear()).not.toContain(true);
  writeFileSync(path, bytes);

  const cleared = new Database(path);
  expect(rowsOf(cleared)).toEqual(before);
  const integrity = cleared.query("PRAGMA integrity_check").all();
  expect(integrity).toEqual([{ integrity_check: "ok" }]);
  cleared.close(true);
});
