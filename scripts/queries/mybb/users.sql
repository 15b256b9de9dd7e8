-- Who is public? If guests (group 1) may see profiles, members who are neither in a banned group,
-- nor on the list of bans, nor awaiting activation (group 5, or a child's account). MyBB has no
-- private profiles: if you have a field for that, add a condition. Names of a board that was
-- converted to MyBB can be HTML (Tom &amp; Jerry): then add --decode-html to the import. For
-- uploaded avatars, add --avatar-base https://forum.example/.
SELECT u.uid AS id,
       CASE WHEN u.usergroup NOT IN (0, 1, 5) AND u.coppauser = 0
                 AND EXISTS (SELECT 1 FROM mybb_usergroups WHERE gid = 1 AND canviewprofiles = 1)
                 AND NOT EXISTS (SELECT 1 FROM mybb_banned b WHERE b.uid = u.uid)
                 AND NOT EXISTS (SELECT 1
                                   FROM mybb_usergroups g
                                  WHERE g.isbannedgroup = 1
                                    AND CONCAT(',', u.usergroup, ',', u.additionalgroups, ',')
                                        LIKE CONCAT('%,', g.gid, ',%'))
            THEN 1 ELSE 0 END AS public,
       u.username AS name,
       NULLIF(u.regdate, 0) AS created_at,
       u.avatar AS avatar_url
  FROM mybb_users u
