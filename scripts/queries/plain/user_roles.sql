-- Leaves out roles and users that have been deleted.
SELECT user_id, role_id
  FROM user_roles
 WHERE user_id IN (SELECT id FROM users) AND role_id IN (SELECT id FROM roles)
