-- Who is public? If guests (group 1) may see profiles, members who are confirmed and not banned,
-- and who let everyone see their profile. For uploaded avatars, add --avatar-base
-- https://forum.example/.
SELECT u.user_id AS id,
       CASE WHEN u.user_state = 'valid' AND u.is_banned = 0 AND p.allow_view_profile = 'everyone'
                 AND EXISTS (SELECT 1 FROM xf_permission_entry
                              WHERE user_group_id = 1 AND permission_group_id = 'general'
                                AND permission_id = 'viewProfile' AND permission_value = 'allow')
            THEN 1 ELSE 0 END AS public,
       u.username AS name,
       NULLIF(u.register_date, 0) AS created_at,
       CASE WHEN u.avatar_date > 0 AND u.gravatar = ''
            THEN CONCAT('data/avatars/l/', FLOOR(u.user_id / 1000), '/', u.user_id, '.jpg')
             END AS avatar_url
  FROM xf_user u
  LEFT JOIN xf_user_privacy p ON p.user_id = u.user_id
