-- Exports a platform's database as a Roadbook dataset. Replace the names of tables and columns with
-- your own, then run:
--
--   set -o pipefail
--   psql -qAtX -f scripts/export/postgresql.sql "$DATABASE_URL" |
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
-- Times: timestamptz columns need no change, and neither do timestamp columns that hold UTC. For a
-- timestamp column that holds local time, replace created_at with
-- (created_at AT TIME ZONE 'Europe/Warsaw').

\set ON_ERROR_STOP on
SET client_encoding TO 'UTF8';
SET TIME ZONE 'UTC';

WITH lines AS (
  SELECT jsonb_build_object('type', 'role', 'id', id,
           'name', CASE WHEN name ~ '\S' THEN left(name, 200) ELSE 'Role ' || id END,
           'hierarchy', coalesce(hierarchy, 0)) AS line FROM roles
  UNION ALL
  SELECT jsonb_build_object('type', 'achievement', 'id', id,
           'name', CASE WHEN name ~ '\S' THEN left(name, 200) ELSE 'Achievement ' || id END,
           'description', coalesce(left(description, 500), ''),
           'icon', coalesce(left(icon, 200), ''), 'kind', coalesce(left(kind, 100), ''),
           'tier', greatest(tier, 0), 'points', greatest(points, 0))
    FROM achievements
  UNION ALL
  SELECT jsonb_build_object('type', 'company', 'id', id,
           'name', CASE WHEN name ~ '\S' THEN left(name, 200) ELSE 'Company ' || id END,
           'member_count', (SELECT count(DISTINCT user_id) FROM company_members
                             WHERE company_id = companies.id))
    FROM companies
  UNION ALL
  SELECT CASE WHEN is_public THEN jsonb_build_object('type', 'user', 'id', id, 'public', true,
           'name', CASE WHEN name ~ '\S' THEN left(name, 200) ELSE 'User ' || id END,
           'avatar_url',
           CASE WHEN avatar_url ~* '^(https?://[^/\s]|/[^/\\])\S*$' THEN avatar_url END,
           'created_at',
           coalesce(to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), '1970-01-01T00:00:00Z'),
           'company', (SELECT jsonb_build_object('id', company_id,
                         'role', CASE WHEN role ~ '\S' THEN left(role, 200) ELSE 'Member' END)
                         FROM company_members
                        WHERE user_id = users.id AND company_id IN (SELECT id FROM companies)
                        ORDER BY company_id, role LIMIT 1),
           'roles', (SELECT coalesce(jsonb_agg(DISTINCT role_id), '[]') FROM user_roles
                      WHERE user_id = users.id AND role_id IN (SELECT id FROM roles)),
           'achievements',
           (SELECT coalesce(jsonb_agg(jsonb_build_object('id', achievement_id, 'tier', tier,
                     'unlocked_at', to_char(unlocked_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))), '[]')
              FROM (SELECT achievement_id, greatest(max(tier), 0) AS tier,
                           max(unlocked_at) AS unlocked_at
                      FROM user_achievements
                     WHERE user_id = users.id AND isfinite(unlocked_at)
                       AND achievement_id IN (SELECT id FROM achievements)
                     GROUP BY achievement_id) AS highest))
         ELSE jsonb_build_object('type', 'user', 'id', id, 'public', false) END
    FROM users
)
SELECT line FROM lines
UNION ALL
SELECT jsonb_build_object('type', 'end', 'lines', (SELECT count(*) FROM lines));
