/** Dirty databases for the queries in scripts/queries. */

/** Statements that fill a schema, with types that both databases accept if the platform does. */
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
  xenforo: `
CREATE TABLE xf_user (user_id int unsigned PRIMARY KEY, username varchar(50) NOT NULL, register_date int unsigned NOT NULL DEFAULT 0, avatar_date int unsigned NOT NULL DEFAULT 0, gravatar varchar(120) NOT NULL DEFAULT '', user_state enum('valid','email_confirm','email_confirm_edit','moderated','email_bounce','rejected','disabled') NOT NULL DEFAULT 'valid', is_banned tinyint unsigned NOT NULL DEFAULT 0);
CREATE TABLE xf_user_privacy (user_id int unsigned PRIMARY KEY, allow_view_profile enum('everyone','members','followed','none') NOT NULL DEFAULT 'everyone'); CREATE TABLE xf_permission_entry (user_group_id int unsigned NOT NULL, user_id int unsigned NOT NULL, permission_group_id varbinary(25) NOT NULL, permission_id varbinary(25) NOT NULL, permission_value enum('unset','allow','deny','use_int') NOT NULL);
CREATE TABLE xf_user_group (user_group_id int unsigned PRIMARY KEY, title varchar(50) NOT NULL, display_style_priority int unsigned NOT NULL DEFAULT 0, banner_text varchar(100) NOT NULL DEFAULT ''); CREATE TABLE xf_user_group_relation (user_id int unsigned NOT NULL, user_group_id int unsigned NOT NULL, is_primary tinyint unsigned NOT NULL);
CREATE TABLE xf_trophy (trophy_id int unsigned PRIMARY KEY, trophy_points int unsigned NOT NULL, user_criteria mediumblob NOT NULL); CREATE TABLE xf_user_trophy (user_id int unsigned NOT NULL, trophy_id int unsigned NOT NULL, award_date int unsigned NOT NULL);
CREATE TABLE xf_phrase (phrase_id int unsigned AUTO_INCREMENT PRIMARY KEY, language_id int unsigned NOT NULL, title varbinary(100) NOT NULL, phrase_text mediumtext NOT NULL);
INSERT INTO xf_permission_entry VALUES (1, 0, 'general', 'viewProfile', 'allow'), (2, 0, 'general', 'viewProfile', 'allow');
INSERT INTO xf_user_group VALUES (1, 'Unregistered', 0, ''), (2, 'Registered', 0, ''), (3, 'Administrative', 1000, 'Admin'), (5, 'Drivers', 10, 'Driver');
INSERT INTO xf_user VALUES (42, 'Łukasz 田中', 1619863200, 1619863200, '', 'valid', 0), (43, 'Verysecret', 1619863200, 1, '', 'valid', 0), (44, 'Verysecret', 1619863200, 0, '', 'valid', 1), (45, 'Verysecret', 1619863200, 0, '', 'email_confirm', 0), (46, 'Verysecret', 1619863200, 0, '', 'valid', 0), (47, 'Verysecret', 1619863200, 0, '', 'disabled', 0), (48, 'Verysecret', 0, 0, '', 'valid', 0), (49, 'Verysecret', 1619863200, 0, '', 'moderated', 0), (50, '  ', 1619863200, 0, '', 'valid', 0), (51, 'No date', 0, 0, '', 'valid', 0), (52, 'Odd avatar', 1619863200, 1, 'odd@mail.example', 'valid', 0), (53, 'Verysecret', 1619863200, 0, '', 'rejected', 0);
INSERT INTO xf_user_privacy VALUES (42, 'everyone'), (43, 'members'), (44, 'everyone'), (45, 'everyone'), (47, 'everyone'), (48, 'none'), (49, 'everyone'), (50, 'everyone'), (51, 'everyone'), (52, 'everyone'), (53, 'everyone'), (777, 'everyone');
INSERT INTO xf_user_group_relation VALUES (42, 2, 1), (42, 3, 0), (42, 5, 0), (43, 3, 0), (42, 777, 0), (777, 3, 0), (0, 3, 0);
INSERT INTO xf_trophy VALUES (7, 25, ''), (8, 1, '');
INSERT INTO xf_phrase (language_id, title, phrase_text) VALUES (0, 'trophy_title.7', 'Night Owl'), (1, 'trophy_title.7', 'Nachteule'), (0, 'trophy_description.7', 'Up.');
INSERT INTO xf_user_trophy VALUES (42, 7, 1710003900), (42, 777, 1), (777, 7, 1), (0, 7, 1), (43, 8, 1);`,
  discourse: `
CREATE TABLE users (id integer PRIMARY KEY, username varchar(60) NOT NULL, name varchar, created_at timestamp without time zone NOT NULL, active boolean DEFAULT false NOT NULL, approved boolean DEFAULT false NOT NULL, staged boolean DEFAULT false NOT NULL, trust_level integer NOT NULL, suspended_till timestamp without time zone, silenced_till timestamp without time zone, admin boolean DEFAULT false NOT NULL, moderator boolean DEFAULT false, uploaded_avatar_id integer, primary_group_id integer);
CREATE TABLE user_options (user_id integer PRIMARY KEY, hide_profile boolean DEFAULT false NOT NULL); CREATE TABLE user_stats (user_id integer PRIMARY KEY, post_count integer DEFAULT 0 NOT NULL);
CREATE TABLE anonymous_users (id bigint PRIMARY KEY, user_id integer NOT NULL, master_user_id integer NOT NULL, active boolean NOT NULL); CREATE TABLE site_settings (id integer, name varchar NOT NULL, data_type integer NOT NULL, value text); CREATE TABLE uploads (id integer PRIMARY KEY, url varchar NOT NULL);
CREATE TABLE groups (id integer PRIMARY KEY, name varchar NOT NULL, full_name varchar, automatic boolean DEFAULT false NOT NULL, visibility_level integer DEFAULT 0 NOT NULL, members_visibility_level integer DEFAULT 0 NOT NULL); CREATE TABLE group_users (group_id integer NOT NULL, user_id integer NOT NULL, owner boolean DEFAULT false NOT NULL);
CREATE TABLE badges (id integer PRIMARY KEY, name varchar NOT NULL, description text, badge_type_id integer NOT NULL, icon varchar DEFAULT 'certificate', listable boolean DEFAULT true, enabled boolean DEFAULT true NOT NULL); CREATE TABLE user_badges (badge_id integer NOT NULL, user_id integer NOT NULL, granted_at timestamp without time zone NOT NULL);
INSERT INTO groups VALUES (3, 'obrien', 'O''Brien "Łódź" 🚚', false, 0, 0), (1, 'admins', NULL, true, 0, 0), (44, 'secret', NULL, false, 2, 0), (45, 'secret_members', NULL, false, 0, 1);
INSERT INTO group_users VALUES (3, 42, true), (3, 43, false), (44, 52, true), (3, 777, false);
INSERT INTO uploads VALUES (1, '/uploads/42.png'), (2, 'N/A');
INSERT INTO site_settings VALUES (1, 'login_required', 5, 'f'), (2, 'must_approve_users', 5, 't');
INSERT INTO badges VALUES (7, 'Night Owl', NULL, 1, NULL, true, true), (8, 'Unlisted', '', 3, '', false, true), (9, 'Off', '', 3, '', true, false);
INSERT INTO users SELECT id, 'verysecret' || id, 'Very Secret', '2021-05-01 10:00:00', id <> 45, id <> 54, id = 46, CASE id WHEN 48 THEN 0 ELSE 1 END, CASE id WHEN 44 THEN now() + interval '1 hour' WHEN 52 THEN '2022-01-01' END, CASE id WHEN 47 THEN timestamp '9999-01-01' END, id IN (-1, 42), CASE WHEN id <> 52 THEN id = 42 END, CASE id WHEN 42 THEN 1 WHEN 52 THEN 2 WHEN 43 THEN 777 END, CASE WHEN id < 44 THEN 3 WHEN id = 52 THEN 44 END FROM unnest(ARRAY[-2, -1, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56]) id;
UPDATE users SET username = CASE id WHEN 42 THEN 'Łukasz 田中' WHEN 50 THEN '  ' WHEN 52 THEN 'Odd avatar' ELSE username END, created_at = CASE id WHEN 51 THEN 'infinity' ELSE created_at END;
INSERT INTO user_options SELECT id, id = 43 FROM users WHERE id <> 56;
INSERT INTO user_stats SELECT id, CASE id WHEN 53 THEN 0 ELSE 9 END FROM users WHERE id <> 55;
INSERT INTO anonymous_users VALUES (1, 49, 42, true);
INSERT INTO user_badges VALUES (7, 42, '2024-03-09 17:05:00.9'), (7, 42, '2024-03-10 00:00:00'), (8, 42, '2024-03-09'), (9, 42, '2024-03-09'), (777, 42, '2024-03-09'), (7, 777, '2024-03-09'), (7, -1, '2024-03-09'), (7, 43, '2024-03-09');`,
  mybb: `
CREATE TABLE mybb_users (uid int PRIMARY KEY, username varchar(120) NOT NULL DEFAULT '', avatar varchar(200) NOT NULL DEFAULT '', usergroup smallint NOT NULL DEFAULT 0, additionalgroups varchar(200) NOT NULL DEFAULT '', regdate int NOT NULL DEFAULT 0, coppauser smallint NOT NULL DEFAULT 0);
CREATE TABLE mybb_usergroups (gid smallint PRIMARY KEY, title varchar(120) NOT NULL DEFAULT '', disporder smallint NOT NULL, isbannedgroup smallint NOT NULL DEFAULT 0, canviewprofiles smallint NOT NULL DEFAULT 0, showforumteam smallint NOT NULL DEFAULT 0); CREATE TABLE mybb_banned (uid int NOT NULL DEFAULT 0, gid int NOT NULL DEFAULT 0, lifted int NOT NULL DEFAULT 0);
INSERT INTO mybb_usergroups VALUES (1, 'Guests', 0, 0, 1, 0), (2, 'Registered', 0, 0, 1, 0), (4, 'Administrators', 1, 0, 1, 1), (5, 'Awaiting Activation', 0, 0, 1, 0), (6, 'Moderators', 2, 0, 1, 1), (7, 'Banned', 0, 1, 0, 0);
INSERT INTO mybb_users VALUES (42, 'Łukasz 田中', './uploads/avatars/42.png?dateline=1', 4, '2,6', 1619863200, 0), (43, 'Verysecret', 's.png', 7, '', 1619863200, 0), (44, 'Verysecret', '', 2, '', 1619863200, 0), (45, 'Verysecret', '', 5, '', 0, 0), (46, 'Verysecret', '', 2, '6,7', 1619863200, 0), (47, 'Verysecret', '', 2, '', 1619863200, 1), (48, 'Verysecret', '', 0, '', 1619863200, 0), (50, '  ', '', 2, '', 1619863200, 0), (51, 'No date', '', 2, '', 0, 0), (52, 'Odd avatar', 'N/A', 2, '16,77', 1619863200, 0);
INSERT INTO mybb_banned VALUES (44, 7, 0), (0, 7, 0), (777, 7, 0);`,
};
