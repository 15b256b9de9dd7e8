SELECT id AS user_id, 1 AS role_id FROM users WHERE admin AND id > 0
UNION ALL SELECT id, 2 FROM users WHERE moderator AND id > 0
