-- Groups whose members guests may see. Users belong to the one that is their primary group.
SELECT id, COALESCE(NULLIF(full_name, ''), name) AS name FROM groups
 WHERE NOT automatic AND visibility_level = 0 AND members_visibility_level = 0
