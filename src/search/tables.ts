/** Declares the tables of the name index. There is one set for each kind of searched name. */
import type { Sqlite } from "../sqlite/driver.ts";

export const nameKinds = ["user", "company"] as const;
export type NameKind = (typeof nameKinds)[number];

/** The column with a company's member count. Users have none. */
export const memberCountSql: Record<NameKind, string> = { user: "0", company: "member_count" };

/**
 * FTS5's ascii tokenizer treats every byte above 127 as part of a word. With these characters as
 * token characters too, it never splits an n-gram.
 */
const PUNCTUATION = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/** Creates the tables of a kind of names, without rows. Drops any that exist. */
export function createNameTables(db: Sqlite, kind: NameKind): void {
  for (const table of ["name", "frequent_ngram", "long_list", "long_name", "ngram"]) {
    db.exec(`DROP TABLE IF EXISTS ${kind}_${table}`);
  }
  // A name in all its spellings (fold.ts). `rank`, the document id in the posting lists, gives the
  // order of results within a tier. There are gaps between ranks, so that `apply` can insert names.
  // `member_count` is a company's sort key: the count when the rank was assigned.
  const sortKey = kind === "company" ? ", member_count INTEGER NOT NULL" : "";
  db.exec(`CREATE TABLE ${kind}_name (rank INTEGER PRIMARY KEY NOT NULL, id INTEGER NOT NULL,
    folded TEXT NOT NULL${sortKey}) STRICT`);

  // The n-grams whose posting lists are too long to scan. About `count` names contain the n-gram.
  // Its posting list is `list` in the table below, or in FTS5 if `list` is null.
  db.exec(`CREATE TABLE ${kind}_frequent_ngram (ngram TEXT PRIMARY KEY NOT NULL,
    count INTEGER NOT NULL, list INTEGER) STRICT, WITHOUT ROWID`);

  // Each row is one block of a long posting list; see long-lists.ts.
  db.exec(`CREATE TABLE ${kind}_long_list (id INTEGER PRIMARY KEY NOT NULL,
    ranks BLOB NOT NULL) STRICT`);

  // openLongNames in build.ts explains this table.
  db.exec(`CREATE TABLE ${kind}_long_name (folded TEXT NOT NULL, rank INTEGER NOT NULL,
    PRIMARY KEY (folded, rank)) STRICT, WITHOUT ROWID`);

  // Posting lists without text, positions and sizes, because a search only needs to know which
  // names match.
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
  const tokenizer = quote(`ascii tokenchars ${quote(PUNCTUATION)}`);
  db.exec(`CREATE VIRTUAL TABLE ${kind}_ngram USING fts5(ngrams, content='', columnsize=0,
    contentless_delete=0, detail=none, tokenize=${tokenizer})`);

  // Shows quickly whether any user's name has several spellings. Line feeds separate them.
  if (kind === "user") {
    db.exec("CREATE INDEX user_spellings ON user_name (rank) WHERE instr(folded, char(10)) > 0");
  }
}
