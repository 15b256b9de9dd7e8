/**
 * Measures imports from CSV files, PostgreSQL and MariaDB, against reading the same rows and
 * importing the same NDJSON.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findSource, openReader } from "../../src/import/source.ts";
import {
  type DatabaseServer,
  hasMariadb,
  hasPostgres,
  startMariadb,
  startPostgres,
} from "../../test/tables/servers.ts";
import { alternate, formatRounds, median, tableOf, timed } from "./measure.ts";
import { generateLines, runCommand } from "./server.ts";

const USERS = 400_000;
const ROUNDS = 3;
const UNLOCKS = 6;
const ROLES = 8;
const ACHIEVEMENTS = 60;

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
  const csv = join(folder, "csv");
  const queries = join(folder, "queries");
  const dataset = join(folder, "rows.ndjson");
  const users = isQuick ? USERS / 100 : USERS;
  for (const each of [csv, queries]) mkdirSync(each);
  const target = join(folder, "tables.snapshot");
  await writeRows(users, csv);
  await runCommand("import", csv, "--to", target);
  await runCommand("export", target, "--to", dataset);
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
  const steps = { NDJSON: [dataset], ...sources };
  const rounds = isQuick ? 1 : ROUNDS;
  const imports = await alternate(rounds, steps, (source) =>
    runCommand("import", ...source, "--to", target),
  );
  const reads = await alternate(rounds, sources, ([source = "", , folder]) =>
    timed(async () => {
      await using tables = await openReader(findSource(source, folder));
      for await (const _ of tables.read());
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

/** Writes a community as CSV files. */
async function writeRows(users: number, csv: string): Promise<void> {
  const writers = Object.entries(columns).map(([name, definition]) => {
    const writer = Bun.file(join(csv, `${name}.csv`)).writer();
    writer.write(`${headerOf(definition)}\n`);
    return [name, writer] as const;
  });
  const tables = Object.fromEntries(writers) as Record<keyof typeof columns, Bun.FileSink>;
  const add = (table: keyof typeof columns, ...cells: unknown[]) =>
    tables[table].write(`${cells.join(",")}\n`);
  for (let id = 1; id <= ROLES; id++) add("roles", id, `Role ${id}`, id);
  for (let id = 1; id <= ACHIEVEMENTS; id++)
    add("achievements", id, `Achievement ${id}`, "Drive.", "a.svg", "x", 1, 5);
  const start = Date.parse("2015-01-01T00:00:00Z") / 1000;
  let id = 0;
  for (const user of generateLines(users)) {
    if (user.type !== "user") continue;
    id++;
    const name = user.public ? user.name.replaceAll(/[",]/g, "") : `User ${id}`;
    add("users", id, 1, name, start + id * 700);
    for (const role of id % 10 ? [1 + (id % ROLES)] : [1, 2]) add("user_roles", id, role);
    for (let at = 0; at < UNLOCKS; at++)
      add("user_achievements", id, ((id + 7 * at) % ACHIEVEMENTS) + 1, at, start + id * 700 + at);
  }
  for (const [, writer] of writers) await writer.end();
}

function headerOf(definition: string): string[] {
  const columns = definition.split("PRIMARY KEY (")[0] ?? "";
  return [...columns.matchAll(/(\w+) (?:bigint|int|varchar)/g)].map(([, name = ""]) => name);
}

async function fill(server: DatabaseServer, csv: string): Promise<void> {
  const isPostgres = server.url.startsWith("postgres");
  for (const [name, types] of Object.entries(columns)) {
    const table = `bench_${name}`;
    const file = join(csv, `${name}.csv`);
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
