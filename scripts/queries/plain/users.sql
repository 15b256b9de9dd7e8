-- Who is public? Here, the users with is_public = true. NULL means private.
SELECT p.*,
       (SELECT MIN(m.role)
          FROM company_members m
         WHERE m.user_id = p.id AND m.company_id = p.company_id) AS company_role
  FROM (SELECT u.id,
               COALESCE(u.is_public, false) AS public,
               u.name,
               u.created_at,
               u.avatar_url,
               -- A user can have only one company on Roadbook: the one with the lowest id.
               (SELECT MIN(m.company_id)
                  FROM company_members m
                  JOIN companies c ON c.id = m.company_id
                 WHERE m.user_id = u.id) AS company_id
          FROM users u) p
