SELECT r.user_id, r.user_group_id AS role_id
  FROM xf_user_group_relation r
  JOIN xf_user u ON u.user_id = r.user_id
  JOIN xf_user_group g ON g.user_group_id = r.user_group_id AND g.banner_text <> ''
