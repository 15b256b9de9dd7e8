SELECT a.user_id, a.trophy_id AS achievement_id, 1 AS tier, a.award_date AS unlocked_at
  FROM xf_user_trophy a
  JOIN xf_user u ON u.user_id = a.user_id
  JOIN xf_trophy t ON t.trophy_id = a.trophy_id
