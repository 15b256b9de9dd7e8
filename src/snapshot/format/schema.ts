/**
 * Declares the tables of a snapshot with drizzle, and creates them. SQL creates the indexes and the
 * tables that drizzle cannot declare.
 */
import { blob, getTableConfig, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Sqlite } from "../../sqlite/driver.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./file.ts";

export const meta = sqliteTable("meta", { key: text().primaryKey(), value: text().notNull() });

export const role = sqliteTable("role", {
  id: integer().primaryKey(),
  name: text().notNull(),
  hierarchy: integer().notNull(),
});

export const achievement = sqliteTable("achievement", {
  id: integer().primaryKey(),
  name: text().notNull(),
  description: text().notNull(),
  icon: text().notNull(),
  type: text().notNull(),
  tier: integer().notNull(),
  points: integer().notNull(),
});

export const company = sqliteTable("company", {
  id: integer().primaryKey(),
  name: text().notNull(),
  memberCount: integer("member_count").notNull(),
});

export const privateUser = sqliteTable("private_user", { id: integer().primaryKey() });

/** An unlocked achievement. `unlockedAt` is in seconds since 1970. */
export type Unlock = [achievementId: number, tier: number, unlockedAt: number];

/** Public users only. Each row has all of a profile, so reading one needs no join. */
export const user = sqliteTable("user", {
  id: integer().primaryKey(),
  name: text().notNull(),
  avatarUrl: text("avatar_url"),
  companyId: integer("company_id"),
  companyName: text("company_name"),
  companyRole: text("company_role"),
  /** Role ids in ascending order. */
  roles: text({ mode: "json" }).$type<number[]>().notNull(),
  createdAt: integer("created_at").notNull(),
  /** Newest first, then by id. The last column, so that SQLite can read the others without it. */
  achievements: text({ mode: "json" }).$type<Unlock[]>().notNull(),
});

/**
 * The columns of a table of searched names. `folded` has all spellings of a name
 * (search/fold.ts). `rank`, the document id in the posting lists, gives the order of results within
 * a tier. There are gaps between ranks, so that `apply` can insert names.
 */
const searched = {
  rank: integer().primaryKey(),
  id: integer().notNull(),
  folded: text().notNull(),
};
export const userName = sqliteTable("user_name", searched);
export const companyName = sqliteTable("company_name", {
  ...searched,
  /** The sort key: the member count when the rank was assigned. */
  memberCount: integer("member_count").notNull(),
});

const kinds = ["user", "company"] as const;
export type NameKind = (typeof kinds)[number];

const tables = [
  meta,
  role,
  achievement,
  company,
  privateUser,
  // When a change hid or deleted a user, in milliseconds since 1970; see import/takedowns.ts.
  sqliteTable("takedown", { id: integer().primaryKey(), at: integer().notNull() }),
  user,
  userName,
  companyName,

  // The n-grams whose posting lists are too long to scan. About `count` names contain the n-gram.
  // Its posting list is `list` in the table below, or in FTS5 if `list` is null.
  ...kinds.map((kind) =>
    sqliteTable(`${kind}_frequent_ngram`, {
      ngram: text().primaryKey(),
      count: integer().notNull(),
      list: integer(),
    }),
  ),

  // Each row is one block of a long posting list; see name-index/long-lists.ts.
  ...kinds.map((kind) =>
    sqliteTable(`${kind}_long_list`, { id: integer().primaryKey(), ranks: blob().notNull() }),
  ),
];

export function createSchema(db: Sqlite): void {
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  for (const table of tables) db.exec(createSql(table));
  for (const kind of kinds) {
    // openLongNames in name-index/build.ts explains the first table. The second has posting lists
    // without text, positions and sizes, because a search only needs to know which names match.
    db.exec(`CREATE TABLE ${kind}_long_name (folded TEXT NOT NULL, rank INTEGER NOT NULL,
        PRIMARY KEY (folded, rank)) STRICT, WITHOUT ROWID;
      CREATE VIRTUAL TABLE ${kind}_ngram USING fts5(ngrams, content='', contentless_delete=0,
        columnsize=0, detail=none, tokenize=${quote(`ascii tokenchars ${quote(PUNCTUATION)}`)})`);
  }
  // The second index quickly shows whether any user's name has several spellings. Line feeds
  // separate the spellings of a name.
  db.exec(`CREATE INDEX achievement_icon ON achievement (icon);
    CREATE INDEX user_spellings ON user_name (rank) WHERE instr(folded, char(10)) > 0`);
}

function createSql(table: (typeof tables)[number]): string {
  const { name, columns } = getTableConfig(table);
  const parts = columns.map(
    (column) =>
      `${column.name} ${column.getSQLType().toUpperCase()}${column.primary ? " PRIMARY KEY" : ""}${column.notNull ? " NOT NULL" : ""}`,
  );
  const hasRowid = columns.some((column) => column.primary && column.getSQLType() === "integer");
  return `CREATE TABLE ${name} (${parts.join(", ")}) STRICT${hasRowid ? "" : ", WITHOUT ROWID"}`;
}

/**
 * FTS5's ascii tokenizer treats every byte above 127 as part of a word. With these characters as
 * token characters too, it never splits an n-gram.
 */
const PUNCTUATION = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
