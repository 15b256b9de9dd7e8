/** Dirty databases for the queries in scripts/queries. */

/** Statements that fill a schema, with types that both databases accept. */
export const schemas = {
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
INSERT INTO phpbb_groups VALUES (1, 3, 'GUESTS', 0), (2, 3, 'ADMINISTRATORS', 1), (4, 1, 'Driver', 2), (3, 0, 'O&#039;Brien &quot;Łódź&quot; 🚚', 0);
INSERT INTO phpbb_badges VALUES (7, 'Night Owl', 'Up.', 'owl.svg', 25);
INSERT INTO phpbb_users VALUES (1, 2, 'Anonymous', 0, '', ''), (42, 3, 'Łukasz 田中', 1619863200, '42_1.png', 'avatar.driver.upload'), (43, 0, 'Verysecret', 1619863200, 's.png', 'avatar.driver.upload'), (44, 0, 'Verysecret', 1619863200, '', ''), (45, 1, 'Verysecret', 0, '', ''), (50, 0, '  ', 1619863200, '', ''), (51, 0, 'No date', NULL, '', ''), (52, 0, 'Odd avatar', 1619863200, 'N/A', 'avatar.driver.remote');
INSERT INTO phpbb_profile_fields_data VALUES (42, 0), (43, 1);
INSERT INTO phpbb_banlist VALUES (1, 44, '', 0, 0), (2, 42, '', 0, 1), (3, 0, '192.0.2.1', 0, 0);
INSERT INTO phpbb_user_group VALUES (3, 42, 1, 0), (3, 42, 1, 0), (2, 42, 0, 0), (4, 42, 0, 0), (4, 52, 0, 1), (3, 43, 0, 0), (4, 777, 0, 0), (1, 1, 0, 0);
INSERT INTO phpbb_user_badges VALUES (42, 7, 1710003900), (42, 7, 1710003901), (42, 777, 1), (777, 7, 1), (1, 7, 1);`,
};
