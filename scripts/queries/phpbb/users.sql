-- Who is public? Members (user_type 0) and founders (3) who are not banned, and who have not ticked
-- your own profile field "hide_profile", even if guests have no permission to view profiles.
-- Inactive members (1) are private. Bots and guests (2) are left out. A ban that has ended counts
-- until phpBB deletes it. phpBB stores names as HTML (Tom &amp; Jerry), so add --decode-html to the
-- import.
SELECT p.*,
       CASE WHEN EXISTS (SELECT 1
                           FROM phpbb_user_group l
                          WHERE l.user_id = p.id AND l.group_id = p.company_id
                            AND l.group_leader = 1)
            THEN 'Leader' ELSE 'Member' END AS company_role
  FROM (SELECT u.user_id AS id,
               CASE WHEN u.user_type IN (0, 3)
                         AND NOT EXISTS (SELECT 1
                                           FROM phpbb_profile_fields_data f
                                          WHERE f.user_id = u.user_id AND f.pf_hide_profile = 1)
                         AND NOT EXISTS (SELECT 1
                                           FROM phpbb_banlist b
                                          WHERE b.ban_userid = u.user_id AND b.ban_exclude = 0)
                    THEN 1 ELSE 0 END AS public,
               u.username AS name,
               u.user_regdate AS created_at,
               -- An uploaded avatar is a file name, which this flag makes a URL:
               -- --avatar-base https://forum.example/download/file.php
               CASE WHEN u.user_avatar_type = 'avatar.driver.upload'
                    THEN CONCAT('?avatar=', u.user_avatar)
                    WHEN u.user_avatar_type = 'avatar.driver.remote'
                    THEN u.user_avatar END AS avatar_url,
               -- Groups that are neither in the legend nor hidden are companies.
               (SELECT MIN(m.group_id)
                  FROM phpbb_user_group m
                  JOIN phpbb_groups g ON g.group_id = m.group_id
                 WHERE m.user_id = u.user_id AND m.user_pending = 0
                   AND g.group_type NOT IN (2, 3) AND g.group_legend = 0) AS company_id
          FROM phpbb_users u
         WHERE u.user_type <> 2) p
