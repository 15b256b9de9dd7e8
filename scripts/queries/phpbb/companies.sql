-- Groups that are not in the legend. Groups of type 2 are hidden, and 3 belong to phpBB itself.
SELECT group_id AS id, group_name AS name
  FROM phpbb_groups
 WHERE group_type NOT IN (2, 3) AND group_legend = 0
