SELECT m.user_id, m.group_id AS role_id
  FROM phpbb_user_group m
  JOIN phpbb_groups g ON g.group_id = m.group_id AND g.group_legend > 0 AND g.group_type <> 2
  JOIN phpbb_users u ON u.user_id = m.user_id AND u.user_type <> 2
 WHERE m.user_pending = 0
