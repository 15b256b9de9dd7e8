/**
 * Declares the tables of a snapshot with drizzle, creates them from that declaration, and checks
 * that a file has exactly these. Tables that drizzle cannot declare are SQL. For a private user,
 * only the id has a column.
 */
import { blob, getTableConfig, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { sqlite } from "#sqlite";
import type { Sqlite } from "../../sqlite/driver.ts";
import { APPLICATION_ID, InvalidSnapshot, SCHEMA_VERSION } from "./file.ts";

/** Facts about the snapshot as a whole; see meta.ts. */
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
  // Icons are requested by name.
  (table) => [index("achievement_icon").on(table.icon)],
);

export const company = sqliteTable("company", {
  id: integer().primaryKey(),
  name: text().notNull(),
  memberCount: integer("member_count").notNull(),
});

export const privateUser = sqliteTable("private_user", { id: integer().primaryKey() });

/** An achievement that a user has unlocked. The time is in seconds since 1970. */
export type Unlock = [achievementId: number, tier: number, unlockedAt: number];

/** Public users only. A row includes the company's name and the lists, so a profile is one row. */
export const user = sqliteTable("user", {
  id: integer().primaryKey(),
  name: text().notNull(),
  avatarUrl: text("avatar_url"),
  companyId: integer("company_id"),
  companyName: text("company_name"),
  companyRole: text("company_role"),
  /** Ascending ids. */
  roles: text({ mode: "json" }).$type<number[]>().notNull(),
  /** Seconds since 1970. */
  createdAt: integer("created_at").notNull(),
  /** Newest first, then by id. Last, because SQLite need not read it to read other columns then. */
  achievements: text({ mode: "json" }).$type<Unlock[]>().notNull(),
});

/**
 * The searched names: `folded` has all spellings of a name (search/spellings.ts). Ascending `rank`
 * is the order of results within a tier, and the document id in the posting lists. There are gaps
 * between ranks, so that `apply` can insert names. The other columns are those of a search result,
 * so that a hit is one read.
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
/** The kinds of records with a name index. */
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

  // The n-grams whose posting lists are too long to scan, with the approximate number of names that
  // contain them. Those with a `list` have their posting list in the table below, the others in
  // FTS5.
  ...kinds.map((kind) =>
    sqliteTable(`${kind}_frequent_ngram`, {
      ngram: text().primaryKey(),
      count: integer().notNull(),
      list: integer(),
    }),
  ),

  // Each row is a block of a posting list; see name-index/long-lists.ts.
  ...kinds.map((kind) =>
    sqliteTable(`${kind}_long_list`, { id: integer().primaryKey(), ranks: blob().notNull() }),
  ),
];

/** Creates the tables of an empty snapshot, and marks the file as a snapshot. */
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
  // Shows quickly whether any user has several spellings, which a line feed separates.
  db.exec("CREATE INDEX user_spellings ON user_name (rank) WHERE instr(folded, char(10)) > 0");
}

let expected: string | undefined;

/**
 * Throws an {@link InvalidSnapshot} unless `db` has exactly the schema of {@link createSchema},
 * without other views, triggers or indexes. A view in place of a table could run forever.
 */
export function checkSchema(db: Sqlite): void {
  expected ??= findExpected();
  if (describeSchema(db) === expected) return;
  throw new InvalidSnapshot(
    "was not written by Roadbook: its schema is not that of a snapshot; import the dataset again",
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

/** The schema as text, including the tables that FTS5 creates. */
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
 * The posting lists of n-grams. Contentless, without positions and sizes, as only "which names have
 * it" is needed. FTS5's ascii tokenizer treats every byte above 127 as part of a word and keeps it.
 * With all printable ASCII as token characters, it keeps each n-gram whole. (It would lower-case
 * capitals, but folded names have none.)
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
