-- Badge types are 1 (gold), 2 (silver) and 3 (bronze).
SELECT id, name, COALESCE(description, '') AS description, COALESCE(icon, '') AS icon,
       'badge' AS kind, 1 AS tier, 4 - badge_type_id AS points
  FROM badges WHERE enabled AND listable
