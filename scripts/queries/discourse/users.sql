-- Who is public? If the site is open to guests, active users with a post and trust level 1 who are
-- not hidden (before November 2024: hide_profile_and_presence), staged, suspended, silenced or
-- anonymous. For uploaded avatars, add --avatar-base https://forum.example/.
SELECT u.id,
       CASE WHEN u.active AND NOT u.staged AND NOT o.hide_profile
                 AND u.trust_level >= 1 AND s.post_count > 0
                 AND COALESCE(GREATEST(u.suspended_till, u.silenced_till) < now(), true)
                 AND u.id NOT IN (SELECT user_id FROM anonymous_users)
                 AND NOT EXISTS (SELECT 1 FROM site_settings WHERE value = 't' AND
                       (name IN ('login_required', 'hide_user_profiles_from_public')
                        OR name = 'must_approve_users' AND NOT u.approved))
            THEN 1 ELSE 0 END AS public,
       u.username AS name, u.created_at,
       (SELECT url FROM uploads WHERE id = u.uploaded_avatar_id) AS avatar_url,
       g.id AS company_id,
       (SELECT 'Owner' FROM group_users m
         WHERE m.group_id = g.id AND m.user_id = u.id AND m.owner) AS company_role
  FROM users u
  LEFT JOIN user_options o ON o.user_id = u.id
  LEFT JOIN user_stats s ON s.user_id = u.id
  LEFT JOIN groups g ON g.id = u.primary_group_id AND NOT g.automatic
        AND g.visibility_level = 0 AND g.members_visibility_level = 0
 WHERE u.id > 0
