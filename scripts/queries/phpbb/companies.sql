-- Groups that are not in the legend. Groups of type 3 belong to phpBB itself.
SELECT group_id AS id, group_name AS name
  FROM phpbb_groups
 WHERE group_type <> 3 AND group_legend = 0
