/** The version of the schema changes whenever a snapshot of the version before would be misread. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { sqlite } from "#sqlite";
import type { DatasetLine } from "../../src/domain/dataset.ts";
import { version } from "../../src/domain/version.ts";
import { buildSnapshot } from "../../src/import/import.ts";
import { parseHeader, SCHEMA_VERSION } from "../../src/snapshot/format/layout.ts";
import { listRecords } from "../../src/snapshot/format/records.ts";

/** The newest schema, the release that has it first, and the hash of {@link contents}. */
const newest = { schema: 8, release: "0.2.0", hash: "4f6ef0805efe3d01" };

/** A record of each kind. It must stay as it is, because the hash contains the rows. */
const dataset: DatasetLine[] = [
  { type: "role", id: 1, name: "Driver", hierarchy: 10 },
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
  { type: "company", id: 3, name: "Żubr Express", member_count: 41 },
  {
    type: "user",
    id: 42,
    public: true,
    name: "Łukasz Müller Иванов",
    avatar_url: "https://avatars.example/42.png",
    created_at: "2021-05-01T10:00:00Z",
    company: { id: 3, role: "Owner" },
    roles: [1],
    achievements: [{ id: 7, tier: 2, unlocked_at: "2024-03-09T17:05:00Z" }],
  },
  { type: "user", id: 43, public: false },
];

async function openDataset() {
  const bytes = await buildSnapshot(dataset);
  return sqlite.openBytes(bytes.subarray(0, parseHeader(bytes).databaseBytes));
}

/** Every table and index, the rows of the tables, and the names of the metadata. */
async function contents(): Promise<string[]> {
  const db = await openDataset();
  // Tables of type "shadow" belong to FTS5, and change with SQLite.
  const declared = db.values<[string, string, string]>(
    `SELECT name, coalesce(t.type, 'index'), sql FROM sqlite_schema
      LEFT JOIN pragma_table_list t USING (name)
      WHERE sql IS NOT NULL AND t.type IS NOT 'shadow' ORDER BY name`,
  );
  return declared.flatMap(([name, type, sql]) => {
    const rows = type === "table" ? db.values(`SELECT * FROM ${name} ORDER BY 1`) : [];
    const shown = name === "meta" ? rows.map(([key]) => key) : rows;
    return [sql.replace(/\s+/g, " "), ...shown.map((row) => JSON.stringify(row))];
  });
}

/** What to do when the contents change, which depends on whether a release has the schema. */
function adviceFor(hash: string): string {
  const { schema, release } = newest;
  if (version.startsWith(`${release}-`))
    return `Schema ${schema} is unreleased, so only put the hash "${hash}" into this test, and
import again what you imported before.`;
  return `Roadbook ${release} writes schema ${schema}, and would be misunderstood:
1. Raise SCHEMA_VERSION in src/snapshot/format/layout.ts.
2. Have import still read schema ${schema} (src/snapshot/format/open.ts refuses it), and test that with
   a snapshot made by Roadbook ${release} in test/fixtures.
3. Put the new schema, the next release and the hash "${hash}" into this test.`;
}

test("a change of the tables, or of how rows are stored, has its own schema version", async () => {
  const lines = await contents();
  const text = lines.join("\n");
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  if (hash !== newest.hash)
    throw new Error(`A snapshot has other contents.\n${adviceFor(hash)}\n\n${text}`);
  expect(SCHEMA_VERSION).toBe(newest.schema);
});

test("an import fills every column, and an export has what was in it", async () => {
  const db = await openDataset();
  const [row = {}] = db.$client.prepare<Record<string, unknown>>("SELECT * FROM user").all();
  const empty = Object.keys(row).filter((column) => row[column] === null);
  const advice = "write it in src/import/write-rows.ts, and add it to the dataset above";
  expect(empty.map((column) => `user.${column} is NULL: ${advice}`)).toEqual([]);

  // If this fails, src/snapshot/format/records.ts drops what import has stored.
  expect([...listRecords(db)]).toEqual(dataset);
});
