-- The groups in the legend, of which the first outranks the others.
SELECT group_id AS id, group_name AS name, -group_legend AS hierarchy
  FROM phpbb_groups
 WHERE group_legend > 0
