-- phpBB has no achievements. These are the tables of a typical extension for badges.
SELECT badge_id AS id,
       badge_title AS name,
       badge_desc AS description,
       badge_image AS icon,
       'badge' AS kind,
       1 AS tier,
       badge_points AS points
  FROM phpbb_badges
