-- The user groups with a banner, which everyone sees beside a member's name.
SELECT user_group_id AS id, banner_text AS name, display_style_priority AS hierarchy
  FROM xf_user_group
 WHERE banner_text <> ''
