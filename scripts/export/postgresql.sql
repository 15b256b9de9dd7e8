-- Selects a whole platform as a Roadbook dataset. Put the names of your own tables into it, and run
--
--   set -o pipefail
--   psql -qAtX -f scripts/export/postgresql.sql "$DATABASE_URL" | dist/roadbook import - --expect-end --to community.snapshot
--
-- Of a user who is private, or of whom that is not known, it selects the id and nothing else.
--
-- Times: columns of type timestamptz are right as they are, and so are those of type timestamp that
-- hold UTC. For a timestamp column that holds the time of a place, write
-- (created_at AT TIME ZONE 'Europe/Warsaw') where created_at is.

\set ON_ERROR_STOP on
SET client_encoding TO 'UTF8';
SET TIME ZONE 'UTC';

WITH lines AS (
  SELECT jsonb_build_object('type', 'role', 'id', id, 'name', name, 'hierarchy', hierarchy) AS line FROM roles
  UNION ALL
  SELECT jsonb_build_object('type', 'achievement', 'id', id, 'name', name, 'description', description,
           'icon', icon, 'kind', kind, 'tier', tier, 'points', points) FROM achievements
  UNION ALL
  SELECT jsonb_build_object('type', 'company', 'id', id, 'name', name, 'member_count',
           (SELECT count(*) FROM company_members WHERE company_id = companies.id)) FROM companies
  UNION ALL
  SELECT CASE WHEN is_public THEN jsonb_build_object('type', 'user', 'id', id, 'public', true, 'name', name,
           'avatar_url', avatar_url, 'created_at', to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
           'company', (SELECT jsonb_build_object('id', company_id, 'role', role)
                         FROM company_members WHERE user_id = users.id LIMIT 1),
           'roles', (SELECT coalesce(jsonb_agg(role_id), '[]') FROM user_roles WHERE user_id = users.id),
           'achievements', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', achievement_id, 'tier', tier,
               'unlocked_at', to_char(unlocked_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))), '[]')
             FROM user_achievements WHERE user_id = users.id))
         ELSE jsonb_build_object('type', 'user', 'id', id, 'public', false) END
    FROM users
)
SELECT line FROM lines
UNION ALL
SELECT jsonb_build_object('type', 'end', 'lines', (SELECT count(*) FROM lines));
