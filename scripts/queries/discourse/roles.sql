SELECT 1 AS id, 'Admin' AS name, 2 AS hierarchy UNION ALL SELECT 2, 'Moderator', 1
