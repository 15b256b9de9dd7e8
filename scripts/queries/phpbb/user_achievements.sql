-- A badge can be awarded more than once: the tier is how often.
SELECT a.user_id,
       a.badge_id AS achievement_id,
       COUNT(*) AS tier,
       MIN(a.award_time) AS unlocked_at
  FROM phpbb_user_badges a
  JOIN phpbb_badges b ON b.badge_id = a.badge_id
  JOIN phpbb_users u ON u.user_id = a.user_id AND u.user_type <> 2
 GROUP BY a.user_id, a.badge_id
