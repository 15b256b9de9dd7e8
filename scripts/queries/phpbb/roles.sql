-- The groups in the legend that are not hidden (type 2), of which the first outranks the others.
-- The names of phpBB's own groups are keys of its language files, so write here how your forum
-- shows them.
SELECT group_id AS id,
       CASE group_name WHEN 'ADMINISTRATORS' THEN 'Administrators'
                       WHEN 'GLOBAL_MODERATORS' THEN 'Global moderators'
                       ELSE group_name END AS name,
       -group_legend AS hierarchy
  FROM phpbb_groups
 WHERE group_legend > 0 AND group_type <> 2
