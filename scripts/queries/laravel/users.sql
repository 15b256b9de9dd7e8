-- Who is public? Users who have verified their address, and who are not hidden, banned or deleted.
-- CASE never returns NULL, so nobody becomes public by accident.
SELECT u.id,
       CASE WHEN u.email_verified_at IS NOT NULL AND NOT u.hidden
                 AND u.banned_at IS NULL AND u.deleted_at IS NULL
            THEN 1 ELSE 0 END AS public,
       u.name,
       u.created_at,
       u.avatar AS avatar_url,
       c.id AS company_id,
       u.job_title AS company_role
  FROM users u
  LEFT JOIN companies c ON c.id = u.company_id AND c.deleted_at IS NULL
