SELECT id,
       name,
       COALESCE(description, '') AS description,
       COALESCE(icon, '') AS icon,
       COALESCE(category, '') AS kind,
       level AS tier,
       points
  FROM badges
 WHERE deleted_at IS NULL
