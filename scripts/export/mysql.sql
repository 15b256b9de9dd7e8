-- Exports a platform's database as a Roadbook dataset. Works with MySQL 8 or later, and with
-- MariaDB 10.5 or later. Replace the names of tables and columns with your own, then run:
--
--   set -o pipefail
--   mysql --batch --raw --quick --skip-column-names platform < scripts/export/mysql.sql |
--     dist/roadbook import - --expect-end --to community.snapshot
--
-- If a user's is_public is false or NULL, only the user's id is exported.
--
-- Missing or overlong values do not stop the export. A blank name becomes "User" and the id, such
-- as "User 42". A blank company role becomes "Member", and a missing creation date becomes
-- 1970-01-01. Texts that are too long are cut. Invalid avatars, dangling references and
-- achievements without a date are left out. If a user has the same achievement more than once, only
-- the highest tier is exported.
--
-- Times: TIMESTAMP columns need no change, and neither do DATETIME columns that hold UTC. For a
-- DATETIME column that holds local time, replace created_at with
-- CONVERT_TZ(created_at, 'Europe/Warsaw', '+00:00').
-- Named time zones require the tables that mysql_tzinfo_to_sql fills.

SET NAMES utf8mb4;
SET time_zone = '+00:00';
SET group_concat_max_len = 4294967295;

WITH line AS (
  SELECT JSON_OBJECT('type', 'role', 'id', id,
           'name', CASE WHEN name REGEXP '[^[:space:]]' THEN LEFT(name, 200)
                        ELSE CONCAT('Role ', id) END,
           'hierarchy', COALESCE(hierarchy, 0)) AS json FROM roles
  UNION ALL
  SELECT JSON_OBJECT('type', 'achievement', 'id', id,
           'name', CASE WHEN name REGEXP '[^[:space:]]' THEN LEFT(name, 200)
                        ELSE CONCAT('Achievement ', id) END,
           'description', COALESCE(LEFT(description, 500), ''),
           'icon', COALESCE(LEFT(icon, 200), ''), 'kind', COALESCE(LEFT(kind, 100), ''),
           'tier', GREATEST(COALESCE(tier, 0), 0), 'points', GREATEST(COALESCE(points, 0), 0))
    FROM achievements
  UNION ALL
  SELECT JSON_OBJECT('type', 'company', 'id', id,
           'name', CASE WHEN name REGEXP '[^[:space:]]' THEN LEFT(name, 200)
                        ELSE CONCAT('Company ', id) END,
           'member_count', (SELECT count(DISTINCT user_id) FROM company_members
                             WHERE company_id = companies.id))
    FROM companies
  UNION ALL
  SELECT CASE WHEN is_public THEN
           JSON_OBJECT('type', 'user', 'id', id, 'public', JSON_EXTRACT('true', '$'),
           'name', CASE WHEN name REGEXP '[^[:space:]]' THEN LEFT(name, 200)
                        ELSE CONCAT('User ', id) END,
           'avatar_url',
           CASE WHEN avatar_url REGEXP '^(https?://[^/[:space:]]|/[^/\\\\])[^[:space:]]*$'
                THEN avatar_url END,
           -- In a zero date, such as 0000-00-00, the day or the month is 0.
           'created_at', CASE WHEN DAY(created_at) > 0 AND MONTH(created_at) > 0
                              THEN DATE_FORMAT(created_at, '%Y-%m-%dT%H:%i:%sZ')
                              ELSE '1970-01-01T00:00:00Z' END,
           'company', (SELECT JSON_OBJECT('id', company_id,
                         'role', CASE WHEN role REGEXP '[^[:space:]]' THEN LEFT(role, 200)
                                      ELSE 'Member' END)
                         FROM company_members
                        WHERE user_id = users.id AND company_id IN (SELECT id FROM companies)
                        ORDER BY company_id, role LIMIT 1),
           'roles',
           (SELECT JSON_EXTRACT(CONCAT('[', COALESCE(GROUP_CONCAT(DISTINCT role_id), ''), ']'), '$')
              FROM user_roles
             WHERE user_id = users.id AND role_id IN (SELECT id FROM roles)),
           'achievements', JSON_EXTRACT(CONCAT('[', COALESCE(unlocked.list, ''), ']'), '$'))
         ELSE JSON_OBJECT('type', 'user', 'id', id, 'public', JSON_EXTRACT('false', '$')) END
    FROM users LEFT JOIN (
      SELECT user_id, GROUP_CONCAT(JSON_OBJECT('id', achievement_id, 'tier', tier,
                        'unlocked_at', DATE_FORMAT(unlocked_at, '%Y-%m-%dT%H:%i:%sZ'))) AS list
        FROM (SELECT user_id, achievement_id, GREATEST(COALESCE(MAX(tier), 0), 0) AS tier,
                     MAX(unlocked_at) AS unlocked_at
                FROM user_achievements
               WHERE DAY(unlocked_at) > 0 AND MONTH(unlocked_at) > 0
                 AND achievement_id IN (SELECT id FROM achievements)
               GROUP BY user_id, achievement_id) AS highest
       GROUP BY user_id) AS unlocked ON unlocked.user_id = users.id
)
SELECT json FROM line
UNION ALL
SELECT JSON_OBJECT('type', 'end', 'lines', (SELECT count(*) FROM line));
