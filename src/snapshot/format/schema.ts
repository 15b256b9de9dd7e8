/**
 * The tables of a snapshot, declared once with drizzle and created from that declaration; only the FTS5
 * tables, which drizzle cannot say, are SQL. A private user has an id here and no other column.
 */
import { blob, getTableConfig, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { sqlite } from "#sqlite";
import type { Sqlite } from "../../sqlite/driver.ts";
import { APPLICATION_ID, InvalidSnapshot, SCHEMA_VERSION } from "./file.ts";

/** Facts of the snapshot as a whole: see meta.ts. */
export const meta = sqliteTable("meta", { key: text().primaryKey(), value: text().notNull() });

export const role = sqliteTable("role", {
  id: integer().primaryKey(),
  name: text().notNull(),
  hierarchy: integer().notNull(),
});

export const achievement = sqliteTable(
  "achievement",
  {
    id: integer().primaryKey(),
    name: text().notNull(),
    description: text().notNull(),
    icon: text().notNull(),
    type: text().notNull(),
    tier: integer().notNull(),
    points: integer().notNull(),
  },
  // A picture is asked for by its icon.
  (table) => [index("achievement_icon").on(table.icon)],
);

export const company = sqliteTable("company", {
  id: integer().primaryKey(),
  name: text().notNull(),
  memberCount: integer("member_count").notNull(),
});

export const privateUser = sqliteTable("private_user", { id: integer().primaryKey() });

/** An unlocked achievement: its id, the tier that was reached, and when, in seconds since 1970. */
export type Unlock = [achievementId: number, tier: number, unlockedAt: number];

/** Public users only. With the name of the company, and lists in place: a profile is one row. */
export const user = sqliteTable("user", {
  id: integer().primaryKey(),
  name: text().notNull(),
  avatarUrl: text("avatar_url"),
  companyId: integer("company_id"),
  companyName: text("company_name"),
  companyRole: text("company_role"),
  /** Ids, ascending. */
  roles: text({ mode: "json" }).$type<number[]>().notNull(),
  /** Seconds since 1970. */
  createdAt: integer("created_at").notNull(),
  /** Newest first, then by id. Last, as a long list need not be read for the rest. */
  achievements: text({ mode: "json" }).$type<Unlock[]>().notNull(),
});

/**
 * The names that are searched, folded, in all their spellings (search/spellings.ts); `rank` is a name's place in the order of contract and index alike:
 * ascending rank is the order inside a tier. There are gaps between ranks. Beside the folded name is
 * what a search returns, so that a hit is one read.
 */
const searched = {
  rank: integer().primaryKey(),
  id: integer().notNull(),
  folded: text().notNull(),
  name: text().notNull(),
};
export const userName = sqliteTable("user_name", {
  ...searched,
  avatarUrl: text("avatar_url"),
  companyName: text("company_name"),
});
export const companyName = sqliteTable("company_name", {
  ...searched,
  memberCount: integer("member_count").notNull(),
});

const kinds = ["user", "company"] as const;
/** What has a name index. */
export type NameKind = (typeof kinds)[number];

const tables = [
  meta,
  role,
  achievement,
  company,
  privateUser,
  user,
  userName,
  companyName,

  // The n-grams that are too common to be read through, with about the number of names they are in. The
  // posting list of one that has a `list` is that long list; all others are in FTS5.
  ...kinds.map((kind) =>
    sqliteTable(`${kind}_frequent_ngram`, {
      ngram: text().primaryKey(),
      count: integer().notNull(),
      list: integer(),
    }),
  ),

  // A row is a block of a list: see name-index/long-lists.ts.
  ...kinds.map((kind) =>
    sqliteTable(`${kind}_long_list`, { id: integer().primaryKey(), ranks: blob().notNull() }),
  ),
];

/** Creates every table of an empty snapshot and marks the file as one. */
export function createSchema(db: Sqlite): void {
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  for (const table of tables) for (const sql of createSql(table)) db.exec(sql);
  for (const kind of kinds) {
    // See name-index/long-names.ts.
    db.exec(
      `CREATE TABLE ${kind}_long_name (folded TEXT NOT NULL, rank INTEGER NOT NULL, PRIMARY KEY (folded, rank)) STRICT, WITHOUT ROWID`,
    );
    db.exec(createNgramIndexSql(kind));
  }
  // Tells at once whether there are such users.
  db.exec("CREATE INDEX user_spellings ON user_name (rank) WHERE instr(folded, char(10)) > 0");
}

let expected: string | undefined;

/**
 * Throws an {@link InvalidSnapshot} unless the tables of `db` are those of {@link createSchema}, and no
 * view, trigger or index is there beside them: a view in place of a table can run without end.
 */
export function checkSchema(db: Sqlite): void {
  expected ??= findExpected();
  if (describeSchema(db) === expected) return;
  throw new InvalidSnapshot(
    "was not written by Roadbook: it has other tables than a snapshot; import the dataset again",
  );
}

function findExpected(): string {
  const db = sqlite.openConnection(":memory:");
  try {
    createSchema(db);
    return describeSchema(db);
  } finally {
    db.close();
  }
}

/** Everything in the schema, FTS5's own tables included; the same text for the same schema. */
function describeSchema(db: Sqlite): string {
  const rows = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name");
  return JSON.stringify(rows.all());
}

function* createSql(table: (typeof tables)[number]): Generator<string> {
  const { name, columns, indexes } = getTableConfig(table);
  const parts = columns.map(
    (column) =>
      `${column.name} ${column.getSQLType().toUpperCase()}${column.primary ? " PRIMARY KEY" : ""}${column.notNull ? " NOT NULL" : ""}`,
  );
  const isRowidKey = columns.some((column) => column.primary && column.getSQLType() === "integer");
  yield `CREATE TABLE ${name} (${parts.join(", ")}) STRICT${isRowidKey ? "" : ", WITHOUT ROWID"}`;
  for (const { config } of indexes) {
    const listed = config.columns.map((column) => ("name" in column ? column.name : ""));
    yield `CREATE INDEX ${config.name} ON ${name} (${listed.join(", ")})`;
  }
}

/**
 * Lists of ranks by n-gram. Contentless and without positions or sizes: only "which names have it".
 * FTS5's ascii tokenizer takes every byte above 127 as part of a word and changes none; with
 * all printable ASCII as token characters it gives back each n-gram as it went in (folded names have no capitals).
 */
function createNgramIndexSql(kind: string): string {
  let characters = "";
  for (let code = 0x20; code < 0x7f; code++) {
    const character = String.fromCharCode(code);
    if (!/[a-zA-Z0-9]/.test(character)) characters += character;
  }
  const option = quote("'", characters);
  const tokenize = quote("'", `ascii tokenchars ${option}`);
  return `CREATE VIRTUAL TABLE ${kind}_ngram USING fts5(ngrams, content='', contentless_delete=0, columnsize=0, detail=none, tokenize=${tokenize})`;
}

function quote(mark: string, text: string): string {
  return mark + text.replaceAll(mark, mark + mark) + mark;
}
