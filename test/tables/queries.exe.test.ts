/** Runs the queries in scripts/queries on dirty databases in PostgreSQL and MariaDB. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { exported } from "../datasets.ts";
import { roadbook, root, temporaryFolder } from "../support.ts";
import {
  type DatabaseServer,
  hasMariadb,
  hasPostgres,
  startMariadb,
  startPostgres,
} from "./servers.ts";

const isRequired = process.env.ROADBOOK_REQUIRE_ALL === "1";

/** Statements that fill a schema, with types that both databases accept. */
const schemas = {
  plain: `
CREATE TABLE users (id bigint PRIMARY KEY, name varchar(300), avatar_url varchar(300), is_public boolean, created_at timestamp NULL);
CREATE TABLE companies (id bigint PRIMARY KEY, name varchar(300));
CREATE TABLE company_members (company_id bigint, user_id bigint, role varchar(300));
CREATE TABLE roles (id bigint PRIMARY KEY, name varchar(300), hierarchy int);
CREATE TABLE user_roles (user_id bigint, role_id bigint);
CREATE TABLE achievements (id bigint PRIMARY KEY, name varchar(300), description text, icon varchar(300), kind varchar(300), tier int, points int);
CREATE TABLE user_achievements (user_id bigint, achievement_id bigint, tier int, unlocked_at timestamp NULL);
INSERT INTO roles VALUES (1, 'Driver', 10), (2, 'Patron', 20);
INSERT INTO companies VALUES (3, 'O''Brien "Łódź" 🚚'), (9, 'Other');
INSERT INTO achievements VALUES (7, 'Night Owl', 'Up.', 'owl.svg', 'time', 1, 25), (8, 'Bare', NULL, NULL, NULL, NULL, 5);
INSERT INTO users VALUES (42, 'Łukasz 田中', 'https://cdn.example/42.png', true, '2021-05-01 10:00:00'), (43, 'Verysecret', '/secret.png', false, NULL), (45, 'Verysecret', NULL, NULL, NULL), (50, '  ', '', true, '2021-05-01 10:00:00'), (51, 'No date', NULL, true, NULL), (52, 'Odd avatar', 'N/A', true, '2021-05-01 10:00:00');
INSERT INTO company_members VALUES (9, 42, 'Driver'), (3, 42, 'Owner'), (3, 42, 'Owner'), (3, 43, 'Spy'), (777, 52, 'Gone'), (9, NULL, NULL);
INSERT INTO user_roles VALUES (42, 2), (42, 1), (42, 1), (42, 777), (777, 1), (43, 1);
INSERT INTO user_achievements VALUES (42, 7, 1, '2024-03-01 00:00:00'), (42, 7, 2, '2024-03-09 17:05:00'), (42, 8, 1, NULL), (42, 777, 1, '2024-03-01 00:00:00'), (777, 7, 1, '2024-03-01 00:00:00');`,
  laravel: `
CREATE TABLE users (id bigint PRIMARY KEY, name varchar(300), avatar varchar(300), hidden boolean, email_verified_at timestamp NULL, banned_at timestamp NULL, deleted_at timestamp NULL, created_at timestamp NULL, company_id bigint, job_title varchar(300));
CREATE TABLE companies (id bigint PRIMARY KEY, name varchar(300), deleted_at timestamp NULL);
CREATE TABLE roles (id bigint PRIMARY KEY, name varchar(300), guard_name varchar(300));
CREATE TABLE model_has_roles (role_id bigint, model_type varchar(300), model_id bigint);
CREATE TABLE badges (id bigint PRIMARY KEY, name varchar(300), description text, icon varchar(300), category varchar(300), level int, points int, deleted_at timestamp NULL);
CREATE TABLE badgeables (badge_id bigint, badgeable_type varchar(300), badgeable_id bigint, level int, awarded_at bigint, revoked_at bigint);
INSERT INTO roles VALUES (1, 'Driver', 'web'), (2, 'Patron', 'web');
INSERT INTO companies VALUES (3, 'O''Brien "Łódź" 🚚', NULL), (9, 'Gone', '2020-01-01 00:00:00');
INSERT INTO badges VALUES (7, 'Night Owl', 'Up.', 'owl.svg', 'time', 1, 25, NULL), (8, 'Bare', NULL, NULL, NULL, 0, 5, NULL), (9, 'Gone', NULL, NULL, NULL, 1, 1, '2020-01-01 00:00:00');
INSERT INTO users VALUES (42, 'Łukasz 田中', 'https://cdn.example/42.png', false, '2021-05-01 10:00:00', NULL, NULL, '2021-05-01 10:00:00', 3, 'Owner'), (43, 'Verysecret', NULL, true, '2021-05-01 10:00:00', NULL, NULL, NULL, 3, 'Spy'), (44, 'Verysecret', NULL, false, NULL, NULL, NULL, NULL, NULL, NULL), (45, 'Verysecret', NULL, NULL, '2021-05-01 10:00:00', NULL, NULL, NULL, NULL, NULL), (46, 'Verysecret', NULL, false, '2021-05-01 10:00:00', '2022-01-01 00:00:00', NULL, NULL, NULL, NULL), (47, 'Verysecret', NULL, false, '2021-05-01 10:00:00', NULL, '2022-01-01 00:00:00', NULL, NULL, NULL);
INSERT INTO users VALUES (50, '  ', '', false, '2021-05-01 10:00:00', NULL, NULL, '2021-05-01 10:00:00', 9, NULL), (51, 'No date', NULL, false, '2021-05-01 10:00:00', NULL, NULL, NULL, NULL, NULL), (52, 'Odd avatar', 'N/A', false, '2021-05-01 10:00:00', NULL, NULL, '2021-05-01 10:00:00', 777, '');
INSERT INTO model_has_roles VALUES (2, CONCAT('App', CHR(92), 'Models', CHR(92), 'User'), 42), (1, CONCAT('App', CHR(92), 'Models', CHR(92), 'User'), 42), (2, CONCAT('App', CHR(92), 'Models', CHR(92), 'Team'), 52), (1, CONCAT('App', CHR(92), 'Models', CHR(92), 'User'), 777);
INSERT INTO badgeables VALUES (7, CONCAT('App', CHR(92), 'Models', CHR(92), 'User'), 42, 2, 1710003900, NULL), (7, CONCAT('App', CHR(92), 'Models', CHR(92), 'User'), 42, 1, 1700000000, NULL), (8, CONCAT('App', CHR(92), 'Models', CHR(92), 'User'), 42, 1, 1700000000, 1700000001), (9, CONCAT('App', CHR(92), 'Models', CHR(92), 'User'), 42, 1, 1700000000, NULL), (7, CONCAT('App', CHR(92), 'Models', CHR(92), 'Team'), 52, 1, 1700000000, NULL), (7, CONCAT('App', CHR(92), 'Models', CHR(92), 'User'), 777, 1, 1700000000, NULL);`,
  phpbb: `
CREATE TABLE phpbb_users (user_id int PRIMARY KEY, user_type int, username varchar(255), user_regdate int, user_avatar varchar(255), user_avatar_type varchar(255));
CREATE TABLE phpbb_profile_fields_data (user_id int PRIMARY KEY, pf_hide_profile int);
CREATE TABLE phpbb_banlist (ban_id int PRIMARY KEY, ban_userid int, ban_ip varchar(40), ban_end int, ban_exclude int);
CREATE TABLE phpbb_groups (group_id int PRIMARY KEY, group_type int, group_name varchar(255), group_legend int);
CREATE TABLE phpbb_user_group (group_id int, user_id int, group_leader int, user_pending int);
CREATE TABLE phpbb_badges (badge_id int PRIMARY KEY, badge_title varchar(255), badge_desc varchar(255), badge_image varchar(255), badge_points int);
CREATE TABLE phpbb_user_badges (user_id int, badge_id int, award_time int);
INSERT INTO phpbb_groups VALUES (1, 3, 'GUESTS', 0), (2, 3, 'ADMINISTRATORS', 1), (4, 1, 'Driver', 2), (3, 0, 'O''Brien "Łódź" 🚚', 0);
INSERT INTO phpbb_badges VALUES (7, 'Night Owl', 'Up.', 'owl.svg', 25);
INSERT INTO phpbb_users VALUES (1, 2, 'Anonymous', 0, '', ''), (42, 3, 'Łukasz 田中', 1619863200, '42_1.png', 'avatar.driver.upload'), (43, 0, 'Verysecret', 1619863200, 's.png', 'avatar.driver.upload'), (44, 0, 'Verysecret', 1619863200, '', ''), (45, 1, 'Verysecret', 0, '', ''), (50, 0, '  ', 1619863200, '', ''), (51, 0, 'No date', NULL, '', ''), (52, 0, 'Odd avatar', 1619863200, 'N/A', 'avatar.driver.remote');
INSERT INTO phpbb_profile_fields_data VALUES (42, 0), (43, 1);
INSERT INTO phpbb_banlist VALUES (1, 44, '', 0, 0), (2, 42, '', 0, 1), (3, 0, '192.0.2.1', 0, 0);
INSERT INTO phpbb_user_group VALUES (3, 42, 1, 0), (3, 42, 1, 0), (2, 42, 0, 0), (4, 42, 0, 0), (4, 52, 0, 1), (3, 43, 0, 0), (4, 777, 0, 0), (1, 1, 0, 0);
INSERT INTO phpbb_user_badges VALUES (42, 7, 1710003900), (42, 7, 1710003901), (42, 777, 1), (777, 7, 1), (1, 7, 1);`,
};

const name = 'O\'Brien "Łódź" 🚚';
const hidden = (...ids: number[]) => ids.map((id) => ({ type: "user", id, public: false }));

/** The users that each folder of queries publishes. */
const expected = {
  plain: { members: 2, roles: [1, 2], ids: hidden(43, 45, 50, 51) },
  laravel: { members: 2, roles: [1, 2], ids: hidden(43, 44, 45, 46, 47, 50, 51) },
  phpbb: { members: 2, roles: [2, 4], ids: hidden(43, 44, 45, 50, 51) },
};

const servers: Record<string, [boolean, () => Promise<DatabaseServer>]> = {
  PostgreSQL: [hasPostgres, startPostgres],
  MariaDB: [hasMariadb, startMariadb],
};
const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

for (const [database, [has, start]] of Object.entries(servers)) {
  if (!has) console.warn(`${database} is missing: skipping the queries in scripts/queries`);
  describe.if(has || isRequired)(`on ${database}`, async () => {
    const server = has || isRequired ? await start() : undefined;
    if (!server) return;
    closers.push(server.close);
    const isPostgres = server.url.startsWith("postgres");

    test.each(["plain", "laravel", "phpbb"] as const)("%s", async (folder) => {
      const begin = isPostgres
        ? `DROP SCHEMA public CASCADE; CREATE SCHEMA public; SET TIME ZONE 'UTC';`
        : `DROP DATABASE platform; CREATE DATABASE platform CHARACTER SET utf8mb4; USE platform; SET time_zone = '+00:00';`;
      const fill = isPostgres ? schemas[folder] : schemas[folder].replaceAll("CHR(", "CHAR(");
      await server.run(begin + fill);
      const target = join(temporaryFolder(), "snapshot");
      const queries = join(root, "scripts/queries", folder);
      const base = "https://forum.example/download/file.php";
      const words = ["import", server.url, "--queries", queries, "--to", target, "--skip-invalid"];
      const { code, stderr } = await roadbook([...words, "--avatar-base", base]);
      expect([code, stderr]).toEqual([0, expect.stringContaining("users.sql, id 51: created_at")]);
      expect(stderr.split("\n")).toHaveLength(3);
      const lines = (await exported(target))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      const { members, roles, ids } = expected[folder];
      const users = lines.filter(({ type }) => type === "user");
      expect(users.filter((user) => !user.public)).toEqual(ids);
      const unlock = { id: 7, tier: 2, unlocked_at: "2024-03-09T17:05:00Z" };
      expect(users.filter((user) => user.public)).toEqual([
        {
          type: "user",
          id: 42,
          public: true,
          name: "Łukasz 田中",
          avatar_url: folder === "phpbb" ? `${base}?avatar=42_1.png` : "https://cdn.example/42.png",
          created_at: "2021-05-01T10:00:00Z",
          company: { id: 3, role: folder === "phpbb" ? "Leader" : "Owner" },
          roles,
          achievements: [unlock],
        },
        {
          type: "user",
          id: 52,
          public: true,
          name: "Odd avatar",
          avatar_url: "https://forum.example/download/N/A",
          created_at: "2021-05-01T10:00:00Z",
          company: null,
          roles: [],
          achievements: [],
        },
      ]);
      const companies = lines.filter(({ type }) => type === "company");
      expect(companies[0]).toEqual({ type: "company", id: 3, name, member_count: members });
      expect(companies).toHaveLength(folder === "plain" ? 2 : 1);
    });
  });
}
