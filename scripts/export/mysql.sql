-- Selects a whole platform as a Roadbook dataset, on MySQL 8 or MariaDB 10.5 and later. Put the names
-- of your own tables into it, and run
--
--   set -o pipefail
--   mysql --batch --raw --quick --skip-column-names platform < scripts/export/mysql.sql | dist/roadbook import - --expect-end --to community.snapshot
--
-- Of a user who is private, or of whom that is not known, it selects the id and nothing else.
--
-- Times: columns of type TIMESTAMP are right as they are, and so are those of type DATETIME that hold
-- UTC. For a DATETIME column that holds the time of a place, write
-- CONVERT_TZ(created_at, 'Europe/Warsaw', '+00:00') where created_at is (names of zones need the
-- tables that mysql_tzinfo_to_sql fills).

SET NAMES utf8mb4;
SET time_zone = '+00:00';
SET group_concat_max_len = 4294967295;

WITH line AS (
  SELECT JSON_OBJECT('type', 'role', 'id', id, 'name', name, 'hierarchy', hierarchy) AS json FROM roles
  UNION ALL
  SELECT JSON_OBJECT('type', 'achievement', 'id', id, 'name', name, 'description', description,
           'icon', icon, 'kind', kind, 'tier', tier, 'points', points) FROM achievements
  UNION ALL
  SELECT JSON_OBJECT('type', 'company', 'id', id, 'name', name, 'member_count',
           (SELECT count(*) FROM company_members WHERE company_id = companies.id)) FROM companies
  UNION ALL
  SELECT CASE WHEN is_public THEN JSON_OBJECT('type', 'user', 'id', id, 'public', JSON_EXTRACT('true', '$'), 'name', name,
           'avatar_url', avatar_url, 'created_at', DATE_FORMAT(created_at, '%Y-%m-%dT%H:%i:%sZ'),
           'company', (SELECT JSON_OBJECT('id', company_id, 'role', role)
                         FROM company_members WHERE user_id = users.id LIMIT 1),
           'roles', (SELECT JSON_EXTRACT(CONCAT('[', COALESCE(GROUP_CONCAT(role_id), ''), ']'), '$')
                       FROM user_roles WHERE user_id = users.id),
           'achievements', (SELECT JSON_EXTRACT(CONCAT('[', COALESCE(GROUP_CONCAT(JSON_OBJECT('id', achievement_id,
               'tier', tier, 'unlocked_at', DATE_FORMAT(unlocked_at, '%Y-%m-%dT%H:%i:%sZ'))), ''), ']'), '$')
             FROM user_achievements WHERE user_id = users.id))
         ELSE JSON_OBJECT('type', 'user', 'id', id, 'public', JSON_EXTRACT('false', '$')) END
    FROM users
)
SELECT json FROM line
UNION ALL
SELECT JSON_OBJECT('type', 'end', 'lines', (SELECT count(*) FROM line));
