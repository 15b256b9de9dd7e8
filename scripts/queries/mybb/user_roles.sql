SELECT u.uid AS user_id, g.gid AS role_id
  FROM mybb_users u
  JOIN mybb_usergroups g ON g.showforumteam = 1
   AND CONCAT(',', u.usergroup, ',', u.additionalgroups, ',') LIKE CONCAT('%,', g.gid, ',%')
