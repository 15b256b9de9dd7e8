-- The groups on the page "Forum Team", of which the first outranks the others.
SELECT gid AS id, title AS name, 100000 - disporder AS hierarchy
  FROM mybb_usergroups
 WHERE showforumteam = 1
