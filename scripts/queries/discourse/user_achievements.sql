SELECT a.user_id, a.badge_id AS achievement_id, COUNT(*) AS tier, MIN(a.granted_at) AS unlocked_at
  FROM user_badges a
  JOIN badges b ON b.id = a.badge_id AND b.enabled AND b.listable
  JOIN users u ON u.id = a.user_id AND u.id > 0
 GROUP BY a.user_id, a.badge_id
