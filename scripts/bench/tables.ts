/**
 * Measures imports from CSV files, PostgreSQL and MariaDB, against reading the same rows and
 * importing the same NDJSON.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openTables } from "../../src/tables/open.ts";
import {
  type DatabaseServer,
  hasMariadb,
  hasPostgres,
  startMariadb,
  startPostgres,
} from "../../test/tables/servers.ts";
import { alternate, formatRounds, median, tableOf, timed } from "./measure.ts";
import { createUserNames, runCommand } from "./server.ts";

const USERS = 400_000;
const ROUNDS = 3;
const UNLOCKS = 6;
const [ROLES, ACHIEVEMENTS] = [8, 60];

const columns = {
  users: "id bigint PRIMARY KEY, public int, name varchar(200), created_at bigint",
  roles: "id bigint PRIMARY KEY, name varchar(200), hierarchy int",
  achievements: `id bigint PRIMARY KEY, name varchar(200), description varchar(500),
    icon varchar(200), kind varchar(100), tier int, points int`,
  user_roles: "user_id bigint, role_id bigint, PRIMARY KEY (user_id, role_id)",
  user_achievements: `user_id bigint, achievement_id bigint, tier int, unlocked_at bigint,
    PRIMARY KEY (user_id, achievement_id)`,
};

export async function benchTables(folder: string, isQuick: boolean): Promise<void> {
  const [csv, queries, dataset] = ["csv", "queries", "rows.ndjson"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const users = isQuick ? USERS / 100 : USERS;
  for (const each of [csv, queries]) mkdirSync(each);
  await writeRows(users, csv, dataset);
  for (const table of Object.keys(columns)) {
    writeFileSync(join(queries, `${table}.sql`), `SELECT * FROM bench_${table}`);
  }
  const sources: Record<string, string[]> = { "CSV files": [csv] };
  const servers: DatabaseServer[] = [];
  for (const [name, has, start] of [
    ["PostgreSQL", hasPostgres, startPostgres],
    ["MariaDB", hasMariadb, startMariadb],
  ] as const) {
    if (!has) {
      console.error(`${name} is skipped: it is not installed`);
      continue;
    }
    const server = await start();
    servers.push(server);
    await fill(server, csv);
    sources[name] = [server.url, "--queries", queries];
  }
  const target = join(folder, "tables.snapshot");
  const steps = { NDJSON: [dataset], ...sources };
  const rounds = isQuick ? 1 : ROUNDS;
  const imports = await alternate(rounds, steps, (source) =>
    runCommand("import", ...source, "--to", target),
  );
  const reads = await alternate(rounds, sources, ([source, , folder]) =>
    timed(async () => {
      await using tables = await openTables(source, { queries: folder });
      for await (const _ of tables?.read() ?? []);
    }),
  );
  for (const server of servers) await server.close();
  const secondsOf = (name: string) => imports(name).map(({ seconds }) => seconds);
  const rows = Object.keys(steps).map((name) => {
    const reading = reads(name).map((ms) => ms / 1000);
    const plain = median(secondsOf("NDJSON")) + median(reading);
    return [
      name,
      formatRounds(secondsOf(name)),
      name === "NDJSON" ? "" : formatRounds(reading),
      name === "NDJSON" ? "" : formatRounds([median(secondsOf(name)) / plain]),
      formatRounds(imports(name).map(({ peakMegabytes }) => peakMegabytes)),
    ];
  });
  const unlocks = (UNLOCKS * users).toLocaleString("en");
  console.log(`\n${users.toLocaleString("en")} users with ${unlocks} achievements:\n`);
  const figures = ["import, s:", "only read, s:", "of read + NDJSON:", "peak, MB:"];
  console.log(`\n${tableOf(["", ...figures], rows)}`);
  rmSync(target);
}

/** Writes the same community as CSV files and as NDJSON. */
async function writeRows(users: number, csv: string, dataset: string): Promise<void> {
  const names = Object.keys(columns) as (keyof typeof columns)[];
  const writers = Object.fromEntries(
    names.map((name) => [name, Bun.file(join(csv, `${name}.csv`)).writer()]),
  ) as Record<keyof typeof columns, Bun.FileSink>;
  const lines = Bun.file(dataset).writer();
  const add = (table: keyof typeof columns, ...cells: unknown[]) =>
    writers[table].write(`${cells.join(",")}\n`);
  for (const name of names) add(name, ...headerOf(columns[name]));
  const write = (line: object) => lines.write(`${JSON.stringify(line)}\n`);
  for (let id = 1; id <= ROLES; id++) {
    add("roles", id, `Role ${id}`, id);
    write({ type: "role", id, name: `Role ${id}`, hierarchy: id });
  }
  const fields = { description: "Drive.", icon: "a.svg", kind: "x", tier: 1, points: 5 };
  for (let id = 1; id <= ACHIEVEMENTS; id++) {
    add("achievements", id, `Achievement ${id}`, ...Object.values(fields));
    write({ type: "achievement", id, name: `Achievement ${id}`, ...fields });
  }
  const nameOf = createUserNames(users);
  const start = Date.parse("2015-01-01T00:00:00Z") / 1000;
  const format = (seconds: number) => new Date(seconds * 1000).toISOString();
  for (let id = 1; id <= users; id++) {
    const name = nameOf(id).replaceAll(/[",]/g, "");
    const roles = id % 10 ? [1 + (id % ROLES)] : [1, 2];
    const unlocks = Array.from({ length: UNLOCKS }, (_, at) => ({
      id: ((id + 7 * at) % ACHIEVEMENTS) + 1,
      tier: at,
      unlocked_at: start + id * 700 + at,
    }));
    add("users", id, 1, name, start + id * 700);
    for (const role of roles) add("user_roles", id, role);
    for (const unlock of unlocks) add("user_achievements", id, ...Object.values(unlock));
    write({
      type: "user",
      id,
      public: true,
      name,
      created_at: format(start + id * 700),
      roles,
      achievements: unlocks.map((unlock) => ({
        ...unlock,
        unlocked_at: format(unlock.unlocked_at),
      })),
    });
  }
  for (const writer of [...Object.values(writers), lines]) await writer.end();
}

function headerOf(definition: string): string[] {
  const columns = definition.split("PRIMARY KEY (")[0] ?? "";
  return [...columns.matchAll(/(\w+) (?:bigint|int|varchar)/g)].map(([, name = ""]) => name);
}

async function fill(server: DatabaseServer, csv: string): Promise<void> {
  const isPostgres = server.url.startsWith("postgres");
  for (const [name, types] of Object.entries(columns)) {
    const [table, file] = [`bench_${name}`, join(csv, `${name}.csv`)];
    await server.run(`CREATE TABLE ${table} (${types})`);
    await server.run(
      isPostgres
        ? `COPY ${table} FROM '${file}' CSV HEADER`
        : `LOAD DATA INFILE '${file}' INTO TABLE ${table} CHARACTER SET utf8mb4
            FIELDS TERMINATED BY ',' IGNORE 1 LINES`,
    );
    await server.run(isPostgres ? `ANALYZE ${table}` : `ANALYZE TABLE ${table}`);
  }
}
