SELECT id,
       name,
       COALESCE(description, '') AS description,
       COALESCE(icon, '') AS icon,
       COALESCE(kind, '') AS kind,
       COALESCE(tier, 0) AS tier,
       COALESCE(points, 0) AS points
  FROM achievements
