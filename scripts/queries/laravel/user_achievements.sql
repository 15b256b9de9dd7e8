-- Unix times in seconds need no conversion. For milliseconds, write FLOOR(p.awarded_at / 1000).
SELECT p.badgeable_id AS user_id,
       p.badge_id AS achievement_id,
       p.level AS tier,
       p.awarded_at AS unlocked_at
  FROM badgeables p
  JOIN users u ON u.id = p.badgeable_id
  JOIN badges b ON b.id = p.badge_id AND b.deleted_at IS NULL
 WHERE p.badgeable_type LIKE '%Models_User' AND p.revoked_at IS NULL
