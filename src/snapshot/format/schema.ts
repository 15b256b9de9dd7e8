/** The tables of a snapshot. A private user has an id here and no other column. */
import type { Sqlite } from "../../sqlite/driver.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./file.ts";

const kinds = ["user", "company"];

/** All printable ASCII but letters and digits; a quote, as it is inside two strings, four times. */
const PUNCTUATION = " !\"#$%&''''()*+,-./:;<=>?@[\\]^_`{|}~";

const tables = [
  // Facts of the snapshot as a whole: see meta.ts.
  "TABLE meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT, WITHOUT ROWID",

  "TABLE role (id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, hierarchy INTEGER NOT NULL) STRICT",
  `TABLE achievement (id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
    icon TEXT NOT NULL, kind TEXT NOT NULL, tier INTEGER NOT NULL, points INTEGER NOT NULL) STRICT`,
  `TABLE company (id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,
    member_count INTEGER NOT NULL) STRICT`,
  "TABLE private_user (id INTEGER PRIMARY KEY NOT NULL) STRICT",

  // Public users only. Times are seconds since 1970; user-lists.ts has the two lists.
  `TABLE user (id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, avatar_url TEXT,
    created_at INTEGER NOT NULL, company_id INTEGER, company_role TEXT, roles BLOB,
    achievements BLOB) STRICT`,

  // Folded names. The rank is a name's place in the order of contract and index alike: ascending rank
  // is the order inside a tier. There are gaps between ranks.
  ...kinds.map(
    (kind) => `TABLE ${kind}_name (rank INTEGER PRIMARY KEY NOT NULL, id INTEGER NOT NULL,
      folded TEXT NOT NULL) STRICT`,
  ),

  // The n-grams that are too common to be read through, with about the number of names they are in. The
  // posting list of one that has a `list` is that long list; all others are in FTS5.
  ...kinds.map(
    (kind) => `TABLE ${kind}_frequent_ngram (ngram TEXT PRIMARY KEY NOT NULL,
      count INTEGER NOT NULL, list INTEGER) STRICT, WITHOUT ROWID`,
  ),

  // A row is a block of a list: see name-index/long-lists.ts.
  ...kinds.map(
    (kind) => `TABLE ${kind}_long_list (id INTEGER PRIMARY KEY NOT NULL,
      ranks BLOB NOT NULL) STRICT`,
  ),

  // Lists of ranks by n-gram. Contentless and without positions or sizes: only "which names have it".
  // FTS5's ascii tokenizer takes every byte above 127 as part of a word and changes none; with all
  // printable ASCII it gives back each n-gram as it went in (folded names have no capitals).
  ...kinds.map(
    (kind) => `VIRTUAL TABLE ${kind}_ngram USING fts5(ngrams, content='', contentless_delete=0,
      columnsize=0, detail=none, tokenize='ascii tokenchars ''${PUNCTUATION}''')`,
  ),
];

/** Creates every table of an empty snapshot and marks the file as one. */
export function createSchema(db: Sqlite): void {
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  for (const table of tables) db.exec(`CREATE ${table.replaceAll(/\s+/g, " ")}`);
}
