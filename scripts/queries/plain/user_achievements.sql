-- If a user has several rows for an achievement, the highest tier counts.
SELECT user_id, achievement_id, tier, unlocked_at
  FROM user_achievements
 WHERE unlocked_at IS NOT NULL
   AND user_id IN (SELECT id FROM users)
   AND achievement_id IN (SELECT id FROM achievements)
